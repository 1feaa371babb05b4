import { describe, expect, test } from 'vitest';
import { parseInstant } from './range.ts';
import { instantOf, isZone, offsetOf, offsetText } from './zone.ts';

const HOUR = 3_600_000;
const NEW_YORK = 'America/New_York';
/** Clocks of New York go back from 02:00 to 01:00. */
const BACK = Date.UTC(2026, 10, 1, 6);
/** And forward from 02:00 to 03:00. */
const FORWARD = Date.UTC(2026, 2, 8, 7);

describe('zones', () => {
  test('an offset changes at the very instant at which clocks do', () => {
    expect([BACK - 1, BACK].map((at) => offsetOf(NEW_YORK, at) / HOUR)).toEqual([-4, -5]);
    expect(offsetOf('Asia/Kathmandu', BACK) / HOUR).toBe(5.75);
    expect(offsetOf('UTC', BACK)).toBe(0);
  });
  test('what a clock shows twice is the first, what it skips is as long after the jump', () => {
    expect(instantOf(NEW_YORK, Date.UTC(2026, 10, 1, 1, 30))).toBe(BACK - HOUR / 2);
    expect(instantOf(NEW_YORK, Date.UTC(2026, 2, 8, 2, 30))).toBe(FORWARD + HOUR / 2);
    expect(instantOf(NEW_YORK, Date.UTC(2026, 10, 1, 2, 0))).toBe(BACK + HOUR);
  });
  test('every hour of a year survives the way to the wall clock and back, but the repeated one', () => {
    const start = Date.UTC(2026, 0, 1);
    const lost = Array.from({ length: 365 * 24 }, (_, i) => start + i * HOUR).filter(
      (at) => instantOf(NEW_YORK, at + offsetOf(NEW_YORK, at)) !== at,
    );
    expect(lost).toEqual([BACK]);
  });
  test('offsets read as ISO writes them, with a real minus', () => {
    expect([0, -5 * HOUR, 5.5 * HOUR, 14 * HOUR].map(offsetText)).toEqual([
      'UTC',
      'UTC−05',
      'UTC+05:30',
      'UTC+14',
    ]);
  });
  test('an unknown name is not a zone', () => {
    expect(['UTC', NEW_YORK, '', 'Mars/Olympus', '<img src=x>'].map(isZone)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
  test('a typed time means the zone unless it says another', () => {
    expect(parseInstant('2026-11-20 22:04', NEW_YORK)).toBe(Date.UTC(2026, 10, 21, 3, 4));
    expect(parseInstant('2026-11-20T22:04Z', NEW_YORK)).toBe(Date.UTC(2026, 10, 20, 22, 4));
    expect(parseInstant('2026-11-20', NEW_YORK)).toBe(Date.UTC(2026, 10, 20, 5));
    expect(parseInstant('1795230252000', NEW_YORK)).toBe(1_795_230_252_000);
  });
});
