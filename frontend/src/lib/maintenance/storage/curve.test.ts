import { expect, test } from 'vitest';
import { ageText, curveOf, HEIGHT, stepsPath, WIDTH } from './curve.ts';

test('ages go from left to right, the most bytes reach the top', () => {
  const curve = curveOf([
    [30, 0],
    [1, 12e9],
    [5, 6e9],
  ]);
  expect(curve.map(({ days }) => days)).toEqual([1, 5, 30]);
  expect([curve[0]?.x, curve.at(-1)?.x]).toEqual([0, WIDTH]);
  expect(curve.map(({ y }) => y)).toEqual([0, HEIGHT / 2, HEIGHT]);
});

test('one point and no bytes draw without dividing by zero', () => {
  expect(curveOf([[5, 0]])).toEqual([{ days: 5, bytes: 0, x: 0, y: HEIGHT }]);
  expect(stepsPath(curveOf([]))).toBe('');
});

test('between two ages the curve is a step', () =>
  expect(
    stepsPath([
      { x: 0, y: 0 },
      { x: 10.04, y: 5 },
    ]),
  ).toBe('M0 0H10V5'));

test('ages as text', () =>
  expect([0, 0.5, 1, 30].map(ageText)).toEqual(['0 days', '12 hours', '1 day', '30 days']));
