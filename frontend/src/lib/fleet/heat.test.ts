import { expect, test } from 'vitest';
import { AT, fleetRow, HOUR_MS } from './fixtures.ts';
import { heatOf } from './heat.ts';

const FROM = AT - 3 * HOUR_MS;
const grid = (...rows: Parameters<typeof fleetRow>[0][]) => heatOf(rows.map(fleetRow), FROM, AT);

test('each part has the change within it, the first against what was before the range', () => {
  const [row] = grid({
    spark: [1202, 51202, 1600],
    values: { data_files: 1600 },
    deltas: { data_files: 400 },
  });
  expect(row?.cells.map(({ change }) => change)).toEqual([2, 50_000, -49_602]);
  expect(row?.cells.map(({ from, to }) => [from - FROM, to - FROM])).toEqual([
    [0, HOUR_MS],
    [HOUR_MS, 2 * HOUR_MS],
    [2 * HOUR_MS, 3 * HOUR_MS],
  ]);
});
test('what is not known is no zero', () => {
  const [row] = grid({ spark: [null, 5, 5], values: { data_files: 5 }, deltas: { data_files: null } });
  expect(row?.cells.map(({ change }) => change)).toEqual([null, null, 0]);
});
test('a backfill leaves ordinary commits to be seen', () => {
  const [big, small] = grid(
    { spark: [1, 50_001, 50_001], values: { data_files: 50_001 }, deltas: { data_files: 50_000 } },
    { spark: [10, 14, 14], values: { data_files: 14 }, deltas: { data_files: 4 } },
  );
  expect(big?.cells.map(({ level }) => level)).toEqual([0, 4, 0]);
  expect(small?.cells.map(({ level }) => level)).toEqual([0, 1, 0]);
});
