import { expect, test } from 'vitest';
import { story } from '#lib/timeline/fixtures/story.ts';
import { commitsOf, type Answer } from '#lib/api/lanes.ts';
import { goesOn, joinOverview } from './overview.ts';

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

test('earlier commits come first, each once, and the range begins with them', () => {
  const recent = story();
  const before = moved(recent, -3 * HOUR);
  const both = joinOverview(recent, before);
  const times = commitsOf(both).map(({ t }) => t);
  expect(both.range.from).toBe(before.range.from);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times.length).toBe(
    commitsOf(recent).length + commitsOf(before).filter(({ t }) => t < recent.range.from).length,
  );
});
test('daily commits are known as such, and earlier alerts have their ends', () => {
  const [recent, before] = [story(), moved(story(), -3 * HOUR)];
  const alert = (start: number, end: number | null) => ({
    ...{ start, end, label: 'SmallFileProliferation', state: 'resolved', detail: null, severity: 'critical' },
  });
  const withAlerts = (answer: Answer, bars: ReturnType<typeof alert>[], resolution: string): Answer => ({
    ...answer,
    lanes: answer.lanes.map((lane) =>
      lane.kind === 'events'
        ? { ...lane, resolution }
        : lane.kind === 'bars' && lane.id === 'alerts'
          ? { ...lane, bars }
          : lane,
    ),
  });
  const seam = recent.range.from;
  const both = joinOverview(
    withAlerts(recent, [alert(seam - 1, seam + 1)], 'hour'),
    withAlerts(before, [alert(seam - 9, seam - 5), alert(seam - 1, seam + 1)], 'day'),
  );
  expect(both.coarseUntil).toBe(seam);
  expect(joinOverview(recent, before).coarseUntil).toBeNull();
  const alerts = both.lanes.find(({ id }) => id === 'alerts');
  expect(alerts?.kind === 'bars' ? alerts.bars.map(({ start }) => (start ?? 0) - seam) : []).toEqual([
    -9, -1,
  ]);
});
test('a history that begins inside the recent part is all there is', () => {
  const recent = story();
  expect(goesOn(recent)).toBe(true);
  expect(goesOn({ ...recent, range: { ...recent.range, from: recent.range.from - 72 * HOUR } })).toBe(false);
});
