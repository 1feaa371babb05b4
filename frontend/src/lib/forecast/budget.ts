// How many tables a list asks people to look at. Pure.
import { fullName } from '#lib/api/names.ts';
import type { RiskRow } from './words.ts';

/** Rows of the first `budget` tables, and the others. A table that is named once is named with all its metrics. */
export function withinBudget(
  rows: readonly RiskRow[],
  budget: number,
): readonly [first: readonly RiskRow[], others: readonly RiskRow[]] {
  const named = new Set([...new Set(rows.map(fullName))].slice(0, budget));
  const isNamed = (row: RiskRow) => named.has(fullName(row));
  return [rows.filter(isNamed), rows.filter((row) => !isNamed(row))];
}
