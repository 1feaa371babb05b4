import { expect, test } from 'vitest';
import { deltaPaths, runPaths, shapes } from './bars.ts';
import { DAY, NOW, story } from '#lib/timeline/fixtures/story.ts';
import type { Bar, BarsLane } from '#lib/api/lanes.ts';
import { timeScale } from '#lib/timeline/axes/scale.ts';

const MINUTE = 60_000;
const runs = (
  story({ from: DAY - 18 * 60 * MINUTE }).lanes.find((lane) => lane.id === 'job_runs') as BarsLane
).bars;
const bar = (start: number | null, end: number | null, state = 'ok'): Bar => ({
  start,
  end,
  label: 'run',
  severity: null,
  state,
  detail: null,
});

test('bars outside the range are not drawn, overlapping ones are clipped, open ones end now', () => {
  const scale = timeScale(0, 100, 100);
  const found = shapes([bar(-50, -10), bar(-50, 20), bar(90, null), bar(120, 130)], scale, 95);
  expect(found.map(({ left, right, open }) => [left, right, open])).toEqual([
    [0, 20, false],
    [90, 95, true],
  ]);
});

test('few runs are bars of their own; a run that ends in an instant still shows', () => {
  const paths = runPaths([bar(10, 10), bar(50, null)], timeScale(0, 100, 100), 95, 40);
  expect([paths.dense, paths.ok, paths.running !== '']).toEqual([false, 'M10 14h1.6v12h-1.6Z', true]);
});

test('runs of a whole day become busy time, and the failed one still stands out', () => {
  const paths = runPaths(runs, timeScale(NOW - 24 * 60 * MINUTE, NOW, 700), 700, 40);
  expect(paths.dense).toBe(true);
  expect(paths.failed.match(/M/g)).toHaveLength(1);
  expect(paths.crosses).not.toBe('');
});

test('a run of which only the end was reported is a mark at its end, also among runs of a whole day', () => {
  const few = runPaths([bar(null, 40)], timeScale(0, 100, 100), 95, 40);
  expect(few.ok).toBe('M40 14h1.6v12h-1.6Z');
  const scale = timeScale(NOW - 24 * 60 * MINUTE, NOW, 700);
  const many = runPaths([...runs, bar(null, NOW - 60 * MINUTE)], scale, 700, 40);
  expect(many.dense).toBe(true);
  expect(many.ok).toContain(`M${Math.round(scale.px(NOW - 60 * MINUTE) * 10) / 10} 14h1.6`);
});

test('changes per commit go up and down, and what is not known draws nothing', () => {
  const commits = [
    { t: 10, added_data_files: 50_000, removed_data_files: 0 },
    { t: 50, added_data_files: null, removed_data_files: null },
    { t: 90, added_data_files: 352, removed_data_files: 50_000 },
  ];
  const paths = deltaPaths(commits, timeScale(0, 100, 100), 90);
  expect([paths.added.match(/M/g), paths.removed.match(/M/g)].map((found) => found?.length)).toEqual([2, 1]);
});
