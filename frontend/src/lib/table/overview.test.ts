import { expect, test } from 'vitest';
import { story } from '#lib/timeline/fixtures/story.ts';
import { commitsOf, type Answer } from '#lib/timeline/lane.ts';
import { goesOn, joined } from './overview.ts';

const HOUR = 3_600_000;
const moved = (answer: Answer, by: number): Answer => ({
  ...answer,
  range: { ...answer.range, from: answer.range.from + by, to: answer.range.to + by },
  lanes: answer.lanes.map((lane) =>
    lane.kind === 'events'
      ? { ...lane, events: lane.events.map((each) => ({ ...each, t: each.t + by })) }
      : lane,
  ),
});

test('commits of before stand in front, each once, and the range begins with them', () => {
  const recent = story();
  const before = moved(recent, -3 * HOUR);
  const both = joined(recent, before);
  const times = commitsOf(both).map(({ t }) => t);
  expect(both.range.from).toBe(before.range.from);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times.length).toBe(
    commitsOf(recent).length + commitsOf(before).filter(({ t }) => t < recent.range.from).length,
  );
});
test('a history that begins inside the recent part is all there is', () => {
  const recent = story();
  expect(goesOn(recent)).toBe(true);
  expect(goesOn({ ...recent, range: { ...recent.range, from: recent.range.from - 72 * HOUR } })).toBe(false);
});
