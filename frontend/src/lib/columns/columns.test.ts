import { expect, test } from 'vitest';
import { columnChart, type Box } from './chart.ts';
import { column, columnsPage, NOW } from './fixtures.ts';
import { headline, loudest, range, step } from './words.ts';

const box: Box = { width: 640, left: 40, right: 0, share: [0, 100], bounds: [120, 60] };
const span = { from: NOW - 86_400_000, to: NOW, step: null };

test('the sentence names the column whose null share moved most', () => {
  expect(headline(columnsPage())).toBe(
    '24 commits with statistics of 3 columns in this range. The null share of amount moved most: between 1 % and 40 %.',
  );
  const calm = column({ points: [] });
  expect(headline(columnsPage({ columns: [calm], commits: 1 }))).toBe(
    '1 commit with statistics of 1 column in this range. No null share moved by more than half a point.',
  );
  expect(loudest([])).toBeNull();
});

test('a column without bounds says why', () => {
  expect(columnsPage().columns.map(range)).toEqual([
    'private: counts only',
    '-34.5 to 230.0',
    'text: not stored',
  ]);
  expect(range(column({ bounds: 'none' }))).toBe('none stated');
});

test('a point is a commit, or a span in words', () => {
  expect([null, 300, 3600, 86_400].map(step)).toEqual([
    'Each point is a commit.',
    'Each point stands for 5 min of commits.',
    'Each point stands for 1 h of commits.',
    'Each point stands for 1 d of commits.',
  ]);
});

test('shares use the whole strip, and what is unknown is not drawn', () => {
  const points = [
    { ...column().points[0]!, null_share: 0.4, lower: 0, upper: 0 },
    { ...column().points[12]!, null_share: null, lower: null, upper: null },
    { ...column().points[23]!, null_share: 0, lower: 0, upper: 100 },
  ];
  const plot = columnChart(points, span, box);
  expect(plot.top).toBe(0.5);
  expect(plot.dots.map(({ y }) => y)).toEqual([20, 100]);
  expect([plot.least, plot.most]).toEqual([0, 100]);
  expect(plot.strokes).toBe('M40 181V179M615 180V120');
});

test('without bounds there is none to draw', () => {
  const plot = columnChart(columnsPage().columns[2]!.points, span, box);
  expect([plot.line, plot.strokes, plot.least, plot.dots.length]).toEqual(['', '', null, 0]);
});
