import { expect, test } from 'vitest';
import { fanPaths, fanSpoken } from './fan.ts';

const point = (at: number, p10: number, p50: number, p90: number) => ({ at, p10, p50, p90 });
const fan = {
  ...{ lane: 'manifests', job_name: null, threshold: 50, last_drops: [5, 40] },
  points: [point(100, 20, 20, 20), point(150, 20, 30, 40), point(300, 10, 60, 90)],
};
/** A pixel a millisecond; values from 100 at the top to 0 at the foot. */
const ground = (from: number, to: number) => ({
  px: (at: number) => at - from,
  y: (v: number) => 100 - v,
  from,
  to,
});

test('the fan opens where observation ends; drops, threshold and interval have their places', () =>
  expect(fanPaths(fan, ground(0, 400))).toEqual({
    ...{ begins: 100, thresholdY: 50, drops: [5, 40] },
    band: 'M100 80L150 60L300 10L300 90L150 80L100 80Z',
    median: 'M100 80L150 70L300 40',
  }));

test('zoomed into the future, the parts that cross the edges stay', () => {
  const seen = fanPaths(fan, ground(160, 200));
  expect(seen.median).toBe('M-10 70L140 40');
  expect([seen.begins, seen.drops]).toEqual([null, []]);
});

test('of a range that ends before the forecast, or a fan of one point, nothing is drawn', () => {
  expect(fanPaths(fan, ground(0, 50)).band).toBe('');
  expect(fanPaths(fan, ground(400, 500)).median).toBe('');
  expect(fanPaths({ ...fan, points: fan.points.slice(0, 1) }, ground(0, 400))).toMatchObject({
    band: '',
    begins: 100,
  });
  expect(fanPaths({ ...fan, points: [] }, ground(0, 400))).toMatchObject({ band: '', begins: null });
});

test('the fan in words', () => {
  const at = Date.parse('2026-11-21T05:00:00Z');
  const points = [point(at, 1, 1, 1), point(at + 7 * 86_400_000, 2, 3, 5)];
  expect(fanSpoken({ ...fan, points }, String)).toBe(
    'forecast: 2 to 5 by Sat 28 Nov (8 of 10), threshold 50',
  );
});
