import { expect, test } from 'vitest';
import { AT, fleetHeat, HOUR_MS } from './fixtures.ts';
import { heatOf, partsOf, type Measure } from './heat.ts';

const cellsOf = (heat: ReturnType<typeof fleetHeat>, measure: Measure) =>
  heatOf(heat, measure, 12).rows[0]?.cells ?? [];

test('each part has the number of its measure and its place in the range', () => {
  const heat = fleetHeat({ data_files: [2, 50_000, -49_602], commits: [1, 2, 3], alerts: [0, 1, 0] });
  expect(cellsOf(heat, 'files').map(({ text, fewer }) => [text, fewer])).toEqual([
    ['+2', false],
    ['+50k', false],
    ['−49.6k', true],
  ]);
  expect(partsOf(heat).map(({ from, to }) => [from - heat.from, to - heat.from])).toEqual([
    [0, HOUR_MS],
    [HOUR_MS, 2 * HOUR_MS],
    [2 * HOUR_MS, 3 * HOUR_MS],
  ]);
  expect(partsOf(heat).at(-1)?.to).toBe(AT);
  expect(cellsOf(heat, 'commits').map(({ said }) => said)).toEqual(['1 commit', '2 commits', '3 commits']);
  expect(cellsOf(heat, 'alerts').map(({ level }) => level)).toEqual([0, 4, 0]);
});

test('unknown is not zero: neither a part of the range nor alerts when none was ever received', () => {
  const heat = fleetHeat({ data_files: [null, 0, 5], alerts: null });
  expect(cellsOf(heat, 'files').map(({ said }) => said)).toEqual(['not read', 'no change', '+5 files']);
  expect(cellsOf(heat, 'alerts').map(({ level, text }) => [level, text])).toEqual(Array(3).fill([null, '']));
});

test('a backfill leaves ordinary commits to be seen', () => {
  const { rows, most } = heatOf(
    fleetHeat({ data_files: [0, 50_000, 0] }, { data_files: [0, 4, 0] }),
    'files',
    12,
  );
  expect(rows.map(({ cells }) => cells.map(({ level }) => level))).toEqual([
    [0, 4, 0],
    [0, 1, 0],
  ]);
  expect(most).toBe(50_000);
});

test('risk is the reason of each part, worse ones darker, and one that is not known is hatched', () => {
  const cells = cellsOf(fleetHeat({ risk: ['none', 'skew', 'file_burst', null] }), 'risk');
  expect(cells.map(({ level, said }) => [level, said])).toEqual([
    [0, 'nothing stands out'],
    [2, 'partition skew'],
    [4, 'file burst'],
    [null, 'not read'],
  ]);
});
