import { describe, expect, test } from 'vitest';
import { BURST, story } from '#lib/timeline/fixtures/story.ts';
import { commitsOf, type CommitEvent, type StepLane } from '#lib/api/lanes.ts';
import { extent, lineBand, linePath, positions, stepBand, stepPath, stepTimes, type Series } from './path.ts';
import { timeScale } from '#lib/timeline/axes/scale.ts';

const series = (count: number, clip = Infinity): Series => ({
  xs: Float64Array.from({ length: count + 1 }, (_, i) => i * 10),
  y: (value) => 100 - value,
  clip,
});
/** Every number that a path says on the vertical axis, for steps and lines. */
const heights = (d: string) =>
  [...d.matchAll(/[ML]\S+?[ ,](-?[\d.]+)|V(-?[\d.]+)/g)].map((m) => Number(m[1] ?? m[2]));

describe('step path', () => {
  test('holds each level until the next and merges equal ones', () => {
    expect(stepPath([5, 5, 20], series(3))).toBe('M0 95H20V80H30');
  });
  test('a null breaks the path; it is never drawn as zero', () => {
    const d = stepPath([5, null, null, 7], series(4));
    expect(d).toBe('M0 95H10M30 93H40');
    expect(heights(d)).not.toContain(100);
  });
  test('zero is drawn', () => expect(stepPath([0, 0], series(2))).toBe('M0 100H20'));
  test('nothing known draws nothing', () => expect(stepPath([null, null], series(2))).toBe(''));
  test('nothing is drawn right of what is known', () => {
    expect(stepPath([5, 6, 7], series(3, 14))).toBe('M0 95H10V94H14');
  });
  test('an area closes every stretch by itself', () => {
    expect(stepPath([5, null, 7], series(3), 100)).toBe('M0 95H10V100H0ZM20 93H30V100H20Z');
  });
});

describe('line path', () => {
  test('a null breaks the line', () => {
    const d = linePath([5, 6, null, 8, 9], series(5));
    expect(d.match(/M/g)).toHaveLength(2);
    expect(heights(d)).not.toContain(100);
  });
  test('a lone sample is a dot', () => expect(linePath([null, 6, null], series(3))).toBe('M10 94Z'));
  test('samples are joined by straight lines', () =>
    expect(linePath([5, 6.04], series(2))).toBe('M0 95L10 94'));
  test('an area falls to its base at the ends of every stretch', () =>
    expect(linePath([5, 6, null, 7], series(4), 100)).toBe('M0 95L10 94V100H0ZM30 93V100H30Z'));
  test('nothing known draws nothing', () => expect(linePath([null], series(1))).toBe(''));
});

describe('bands', () => {
  test('need both edges', () => {
    const d = stepBand([1, null, 3], [2, 4, null], series(3));
    expect(d).toBe('M0 98H10V99H0Z');
  });
  test('of lines keep their gaps', () => {
    expect(lineBand([1, null, 3, 4], [2, null, 5, 6], series(4))).toBe(
      'M0 98L0 99ZM20 95L30 94L30 96L20 97Z',
    );
  });
});

describe('step times', () => {
  const commit = (t: number, files: number, on_main = true) =>
    ({ t, added_data_files: files, removed_data_files: 0, added_delete_files: 0, on_main }) as CommitEvent;
  test('a level begins at the heaviest commit of its step', () => {
    const times = stepTimes(
      [0, 100, 200, 300],
      [commit(110, 3), commit(150, 900), commit(190, 2), commit(250, 1, false)],
    );
    expect([...times]).toEqual([0, 100, 150, 300]);
  });
  test('a commit before the range or after it moves nothing', () => {
    expect([...stepTimes([100, 200], [commit(50, 9), commit(400, 9)])]).toEqual([100, 200]);
  });
  test('the burst rises exactly under its mark', () => {
    const answer = story({ step: 120 });
    const scale = timeScale(answer.range.from, answer.range.to, 720);
    const xs = positions(stepTimes(answer.t, commitsOf(answer)), answer.range.to, scale);
    const files = answer.lanes.find((lane) => lane.id === 'data_files') as StepLane;
    const d = stepPath(files.v, { xs, y: (value) => value, clip: 720 });
    expect(d).toContain(`H${Math.round(scale.px(BURST) * 10) / 10}V51202`);
  });
});

test('the extent ignores what is not known, and nothing known has none', () => {
  expect(extent([[null, 4, 2], [9], null])).toEqual([2, 9]);
  expect(extent([[0, 4]], true)).toEqual([4, 4]);
  expect(extent([[null], null])).toBeNull();
});
