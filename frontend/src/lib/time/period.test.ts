import { expect, test } from 'vitest';
import { periodFor, readPeriod, writePeriod } from './period.ts';

const HOUR = 3_600_000;

test.each([
  ['1d', 86_400],
  ['90m', 5_400],
  ['90s', 90],
  ['6h', 21_600],
  ['7d', 604_800],
])('%s is %d seconds, and is written so', (text, seconds) => {
  expect(readPeriod(text)).toBe(seconds);
  expect(writePeriod(seconds)).toBe(text);
});
test('a week is written in days', () => expect(writePeriod(readPeriod('1w') as number)).toBe('7d'));
test.each(['', '1', 'd', '0d', '-1d', '1.5d', '1y', '9999w', '1d '])('%j is no period', (text) =>
  expect(readPeriod(text)).toBeNull(),
);
test('the period before is one that does not overlap, at the same time of day', () => {
  expect([1, 24, 25, 24 * 7, 24 * 8, 24 * 60].map((hours) => periodFor(hours * HOUR) / 86_400)).toEqual([
    1, 1, 7, 7, 28, 364,
  ]);
});
