import { expect, test } from 'vitest';
import { AT, fleetHeat, HOUR_MS } from './fixtures.ts';
import { heatOf, mostOf, said } from './heat.ts';

test('each part has the number of its measure and its place in the range', () => {
  const heat = fleetHeat({ data_files: [2, 50_000, -49_602], commits: [1, 2, 3], alerts: [0, 1, 0] });
  const [files] = heatOf(heat, 'files', 12);
  expect(files?.cells.map(({ value }) => value)).toEqual([2, 50_000, -49_602]);
  expect(files?.cells.map(({ from, to }) => [from - heat.from, to - heat.from])).toEqual([
    [0, HOUR_MS],
    [HOUR_MS, 2 * HOUR_MS],
    [2 * HOUR_MS, 3 * HOUR_MS],
  ]);
  expect(files?.cells.at(-1)?.to).toBe(AT);
  expect(heatOf(heat, 'commits', 12)[0]?.cells.map((cell) => said('commits', cell))).toEqual([
    '1 commit',
    '2 commits',
    '3 commits',
  ]);
  expect(heatOf(heat, 'alerts', 12)[0]?.cells.map(({ level }) => level)).toEqual([0, 4, 0]);
});

test('what is not known is no zero: neither a part nor alerts of which none was ever told', () => {
  const heat = fleetHeat({ data_files: [null, 0, 5], alerts: null });
  expect(heatOf(heat, 'files', 12)[0]?.cells.map((cell) => said('files', cell))).toEqual([
    'not read',
    'no change',
    '+5 files',
  ]);
  expect(heatOf(heat, 'alerts', 12)[0]?.cells.map(({ value }) => value)).toEqual([null, null, null]);
});

test('a backfill leaves ordinary commits to be seen', () => {
  const rows = heatOf(fleetHeat({ data_files: [0, 50_000, 0] }, { data_files: [0, 4, 0] }), 'files', 12);
  expect(rows.map(({ cells }) => cells.map(({ level }) => level))).toEqual([
    [0, 4, 0],
    [0, 1, 0],
  ]);
  expect(mostOf(rows)).toBe(50_000);
});
