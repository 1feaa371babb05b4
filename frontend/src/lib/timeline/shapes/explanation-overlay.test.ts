import { expect, test } from 'vitest';
import { BURST, story } from '#lib/timeline/fixtures/story.ts';
import type { Answer } from '#lib/api/lanes.ts';
import { overlayOf } from './explanation-overlay.ts';

const answer = story();
const lane = answer.lanes.find(({ id }) => id === 'job_duration');
const job = lane?.label ?? '';
const slower = { onset: BURST + 48_000, effect_ratio: 3.05, after_seconds: 159 };
const back = { onset: BURST + 9_000_000, effect_ratio: 0.325, after_seconds: 51.7 };

test('a change is a flag where it began, with how many times as long, or what it is back to', () => {
  const explanation = overlayOf(job, [slower, back], answer);
  expect(explanation?.flags.map(({ at, text, worse }) => [at, text, worse])).toEqual([
    [slower.onset, '3.0×', true],
    [back.onset, 'back to 52 s', false],
  ]);
  expect(explanation?.flags[0]?.said).toBe('3.0× as long from 03:05:00');
});
test('what was expected is told by the runs before the first change alone', () => {
  const [least, most] = overlayOf(job, [slower], answer)?.expected ?? [0, 0];
  expect(least).toBeGreaterThan(40);
  expect(most).toBeLessThan(70);
  expect(least).toBeLessThan(52);
  expect(most).toBeGreaterThan(52);
});
test('too few runs before it expect nothing', () =>
  expect(overlayOf(job, [{ ...slower, onset: answer.range.from + 60_000 }], answer)?.expected).toBeNull());
test('an explanation of another job says nothing of this lane', () => {
  expect(overlayOf('another', [slower], answer)).toBeNull();
  expect(overlayOf(null, [slower], answer)).toBeNull();
  const without: Answer = { ...answer, lanes: answer.lanes.filter((each) => each !== lane) };
  expect(overlayOf(job, [slower], without)).toBeNull();
});
