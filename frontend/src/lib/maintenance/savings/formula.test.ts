import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  amountText,
  compareCosts,
  readAmount,
  savedBy,
  type ComparedCost,
  type Load,
  type StoredBytes,
  type UnitPrices,
} from './formula.ts';

interface Case {
  name: string;
  bytes: StoredBytes | null;
  load: Load;
  prices: UnitPrices;
  rows: ComparedCost[];
}
/** What the server computes; `tests/services/advice/test_comparing.py` holds it to the same. */
const CASES = JSON.parse(readFileSync(new URL('compared.json', import.meta.url), 'utf8')) as Case[];

const numbers = ({ cost, per_gb_month: perGb }: ComparedCost) => [...Object.values(cost), perGb];

test.each(CASES.map((each) => [each.name, each] as const))('%s costs what the server says', (_, each) => {
  const rows = compareCosts(each.bytes, each.load, each.prices);
  expect(rows.map(({ situation }) => situation)).toEqual(each.rows.map(({ situation }) => situation));
  rows.forEach((row, i) =>
    numbers(each.rows[i]!).forEach((recorded, j) => {
      const value = numbers(row)[j]!;
      if (recorded === null) expect(value).toBeNull();
      else expect(value).toBeCloseTo(recorded, 9);
    }),
  );
});

test('savings are against now; freed bytes are known without reads', () => {
  const [{ bytes, load, prices }] = CASES as [Case];
  const [now, ...rest] = compareCosts(bytes, load, prices) as [ComparedCost, ...ComparedCost[]];
  expect(rest.map((row) => savedBy(row, now)?.toFixed(2))).toEqual(['2.30', '52.99', '55.29']);
  const [unread, ...others] = compareCosts(bytes, { ...load, reads_per_day: null }, prices) as [
    ComparedCost,
    ...ComparedCost[],
  ];
  expect(others.map((row) => savedBy(row, unread)?.toFixed(2) ?? null)).toEqual(['2.30', null, null]);
});

test.each([
  ['0.0004', 0.0004],
  [' 0,023 ', 0.023],
  ['0', 0],
  ['-1', null],
  ['1e3', null],
  ['', null],
])('the amount %o is read as %s', (text, value) => expect(readAmount(text)).toBe(value));

test('amounts are printed without exponents', () =>
  expect([0.0004, 1e-7, 24, 1 / 7].map(amountText)).toEqual(['0.0004', '0.0000001', '24', '0.142857143']));
