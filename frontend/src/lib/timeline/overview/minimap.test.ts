import { expect, test } from 'vitest';
import { alertBands, densityOf, heightOf, outlierFiles, reachOf, snapOf } from './minimap.ts';
import { commitsOf } from '#lib/api/lanes.ts';
import { story } from '#lib/timeline/fixtures/story.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 21, 6);
const window = (from: number, to: number) => ({ from: NOW - from, to: NOW - to, step: 30 });
const days = (span: ReturnType<typeof window>, first: number, whole = false) => {
  const { from, to } = reachOf(span, NOW - first, NOW, whole);
  return (to - from) / DAY;
};

test('the map reaches back far enough to hold the window twice, and no farther', () => {
  expect(days(window(6 * HOUR, 0), 90 * DAY)).toBe(1);
  expect(days(window(24 * HOUR, 0), 90 * DAY)).toBe(7);
  expect(days(window(5 * DAY, 4 * DAY), 90 * DAY)).toBe(7);
  expect(days(window(60 * DAY, 59 * DAY), 90 * DAY)).toBe(90);
});
test('the full history is shown on request, or when it is short', () => {
  expect(days(window(6 * HOUR, 0), 90 * DAY, true)).toBe(90);
  expect(days(window(24 * HOUR, 0), 2 * DAY)).toBe(2);
  expect(days(window(6 * HOUR, 0), HOUR)).toBe(1);
});
test('on a day of 600 pixels a click falls on whole two minutes', () => {
  expect(snapOf(reachOf(window(6 * HOUR, 0), NOW - 90 * DAY, NOW, false), 600)).toBe(120);
});
test('every commit counts in exactly one bar', () => {
  const events = commitsOf(story());
  const reach = { from: Math.min(...events.map(({ t }) => t)), to: NOW, whole: true };
  const inside = events.filter(({ t }) => t < NOW).reduce((sum, { commits }) => sum + commits, 0);
  const bars = densityOf(events, reach, 600, 3);
  expect(bars.reduce((sum, bar) => sum + bar.commits, 0)).toBe(inside);
  expect(bars.every((bar, i) => i === 0 || bar.x > (bars[i - 1]?.x ?? 0))).toBe(true);
});
test('a backfill stands out, and an ordinary day does not', () => {
  const bars = [3, 4, 5, 4, 50_000].map((files, i) => ({ x: i * 3, commits: 1, changed: files, files }));
  expect(bars.filter((bar) => bar.files >= outlierFiles(bars)).map((bar) => bar.files)).toEqual([50_000]);
});
test('a commit that changed one file, or none, can be seen beside a burst', () => {
  expect(heightOf(0, 50_000)).toBe(0.15);
  expect(heightOf(1, 50_000)).toBeGreaterThan(0.2);
  expect(heightOf(50_000, 50_000)).toBe(1);
  expect(heightOf(0, 0)).toBe(0.15);
});

test('alerts are bands that join where they overlap, wide enough to be seen, without those that only waited', () => {
  const reach = { from: NOW - DAY, to: NOW, whole: false };
  const bar = (hours: number, end: number | null, state = 'resolved') => ({
    start: NOW - hours * HOUR,
    end: end === null ? null : NOW - end * HOUR,
    label: 'SmallFileProliferation',
    state,
    detail: null,
    severity: null,
  });
  const px = (at: number) => ((at - reach.from) / DAY) * 240;
  const bands = alertBands(
    [bar(1, null, 'firing'), bar(20, 18), bar(19, 17), bar(10, 9.99), bar(5, 4, 'pending'), bar(40, 23)],
    reach,
    px,
    NOW,
  );
  expect(bands.map(({ x, width }) => [Math.round(x), Math.round(width)])).toEqual([
    [0, 10],
    [40, 30],
    [140, 3],
    [230, 10],
  ]);
});
