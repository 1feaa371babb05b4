import { expect, test } from 'vitest';
import { filesOf, largeFrom, netDeletes, shareOf } from './sizes.ts';

const row = (
  added: number | null,
  removed: number | null = 0,
  deletes: [number | null, number | null] = [0, 0],
) => ({
  added_data_files: added,
  removed_data_files: removed,
  added_delete_files: deletes[0],
  removed_delete_files: deletes[1],
});

test('a commit is as large as what it added or removed, unknown if neither is known', () => {
  expect([row(352, 50_000), row(4), row(null, 7), row(null, null)].map(filesOf)).toEqual([
    50_000,
    4,
    7,
    null,
  ]);
});

test('the bar is logarithmic: thousands are seen beside one, and one beside thousands', () => {
  expect(shareOf(50_000, 50_000)).toBe(1);
  expect(shareOf(4, 50_000)).toBeGreaterThan(0.1);
  expect(shareOf(4, 50_000)).toBeLessThan(0.2);
  expect([shareOf(null, 50_000), shareOf(0, 50_000), shareOf(0, 0)]).toEqual([0, 0, 0]);
});

test('what stands out has ten times the median, and a hundred files at least', () => {
  expect(largeFrom([row(1), row(4), row(50_000)])).toBe(100);
  expect(largeFrom([row(40), row(40), row(40)])).toBe(400);
  expect(largeFrom([])).toBe(100);
});

test('delete files are counted net, and not at all when one number is unknown', () => {
  expect([row(0, 0, [21, 20]), row(0, 0, [0, 44]), row(0, 0, [21, null])].map(netDeletes)).toEqual([
    1,
    -44,
    null,
  ]);
});
