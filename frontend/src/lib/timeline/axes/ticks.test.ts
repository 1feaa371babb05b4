import { describe, expect, test } from 'vitest';
import { instantOf, offsetOf } from '#lib/time/zone.ts';
import { timeTicks, valueTicks } from './ticks.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const iso = (ticks: readonly number[]) => ticks.map((at) => new Date(at).toISOString().slice(0, 16));

describe('time', () => {
  const from = Date.UTC(2026, 10, 20, 22, 30);
  test('ticks fall on round hours, counted from midnight UTC', () => {
    expect(iso(timeTicks(from, from + 12 * HOUR, 2 * HOUR))).toEqual([
      '2026-11-21T00:00',
      '2026-11-21T03:00',
      '2026-11-21T06:00',
      '2026-11-21T09:00',
    ]);
  });
  const zoned = (zone: string) => ({
    offset: (at: number) => offsetOf(zone, at),
    instant: (wall: number) => instantOf(zone, wall),
  });
  test('in another zone they are round there: New York counts from its own midnight, before and after it changes clocks', () => {
    const evening = Date.UTC(2026, 9, 31, 22);
    expect(iso(timeTicks(evening, evening + 24 * HOUR, 5 * HOUR, zoned('America/New_York')))).toEqual([
      '2026-10-31T22:00',
      '2026-11-01T04:00',
      '2026-11-01T11:00',
      '2026-11-01T17:00',
    ]);
  });
  test('an hour that the clock shows twice has a tick each time, and half hours of India are its round hours', () => {
    const night = Date.UTC(2026, 10, 1, 4);
    expect(timeTicks(night, night + 4 * HOUR, HOUR, zoned('America/New_York'))).toHaveLength(5);
    expect(iso(timeTicks(night, night + 2 * HOUR, HOUR, zoned('Asia/Kolkata')))).toEqual([
      '2026-11-01T04:30',
      '2026-11-01T05:30',
    ]);
  });
  test('an end that is round itself has a tick', () => {
    const midnight = Date.UTC(2026, 10, 21);
    expect(timeTicks(midnight, midnight + 15 * MINUTE, 5 * MINUTE)).toHaveLength(4);
  });
  test('weeks begin on Monday', () => {
    const ticks = timeTicks(from, from + 60 * DAY, 3 * DAY);
    expect(ticks.length).toBeGreaterThan(7);
    for (const at of ticks) expect(new Date(at).getUTCDay()).toBe(1);
  });
  test('months and years follow the calendar, leap days too', () => {
    expect(iso(timeTicks(Date.UTC(2024, 0, 15), Date.UTC(2024, 4, 2), 20 * DAY))).toEqual([
      '2024-02-01T00:00',
      '2024-03-01T00:00',
      '2024-04-01T00:00',
      '2024-05-01T00:00',
    ]);
    expect(iso(timeTicks(Date.UTC(2020, 5), Date.UTC(2026, 5), 700 * DAY))).toEqual([
      '2022-01-01T00:00',
      '2024-01-01T00:00',
      '2026-01-01T00:00',
    ]);
  });
  test.each([0.001, 0.3, 1, 26, 24 * 9, 24 * 90, 24 * 800, 24 * 9000])(
    'over %d hours ticks lie inside, in order, and as far apart as was asked',
    (hours) => {
      const width = hours * HOUR;
      const ticks = timeTicks(from, from + width, width / 12);
      expect(ticks.length).toBeLessThanOrEqual(13);
      for (const [i, at] of ticks.entries()) {
        expect(at).toBeGreaterThanOrEqual(from);
        expect(at).toBeLessThanOrEqual(from + width);
        // February is shorter than the mean month
        if (i > 0) expect(at - (ticks[i - 1] as number)).toBeGreaterThanOrEqual((width / 12) * 0.9);
      }
    },
  );
});

describe('values', () => {
  test.each([
    [0, 51_202, 2, [0, 20_000, 40_000, 60_000]],
    [0, 1, 2, [0, 0.5, 1]],
    [0, 0.3, 4, [0, 0.1, 0.2, 0.3]],
    [0, 14.2, 4, [0, 5, 10, 15]],
    [-30, 100, 2, [-50, 0, 50, 100]],
    [0, 160, 2, [0, 100, 200]],
  ])('%d to %d in about %d steps', (low, high, count, ticks) =>
    expect(valueTicks(low, high, count)).toEqual(ticks),
  );
  test('ends hold what is drawn, in few steps, at every size', () => {
    for (let power = -6; power <= 15; power += 0.37) {
      for (const low of [0, -(10 ** (power - 1))]) {
        const [high, count] = [10 ** power, 2];
        const ticks = valueTicks(low, high, count);
        expect(ticks[0]).toBeLessThanOrEqual(low);
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(high * (1 - 1e-9));
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks.length).toBeLessThanOrEqual(5);
      }
    }
  });
});
