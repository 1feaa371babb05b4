import { expect, test } from 'vitest';
import { sparkPath } from './spark.ts';

test('a line runs from the smallest value at the bottom to the largest at the top', () => {
  expect(sparkPath([0, 10], 100, 24).line).toBe('M0.0 22.0L100.0 2.0');
});

test('a value that is not known breaks the line and draws no zero', () => {
  const { line, area } = sparkPath([5, null, 6], 100, 24);
  expect(line.match(/M/g)).toHaveLength(2);
  expect(area.match(/Z/g)).toHaveLength(2);
  expect(line).not.toContain('50.0');
});

test('a lone value shows as a dot', () => {
  expect(sparkPath([null, 3, null], 100, 24).line).toBe('M50.0 12.0h.01');
});

test('a flat series is drawn in the middle', () => {
  expect(sparkPath([7, 7], 100, 24).line).toBe('M0.0 12.0L100.0 12.0');
});

test('nothing known draws nothing', () => {
  expect(sparkPath([null, NaN], 100, 24)).toEqual({ line: '', area: '' });
});
