// What tables cost a month, now and after maintenance, on a reader's own numbers: the formula of docs/cost.md, as
// `analysis/advice/money.py` has it. Unknown inputs give null, never 0. Pure.
import type { Schemas } from '#lib/api/client.ts';

export type ComparedCost = Schemas['ComparedCost'];
export type Load = Schemas['TableLoad'];
export type UnitPrices = Pick<Schemas['Prices'], 'storage_gb_month' | 'get_1000' | 'vcpu_hour'>;
export type StoredBytes = Pick<Schemas['TableBytes'], 'live' | 'held' | 'metadata'>;

const GB = 2 ** 30;
const MONTH_DAYS = 30;
const GETS_PER_FILE = 3;
const OPEN_SECONDS = 0.02;

const storageCost = (size: number, prices: UnitPrices) => (size / GB) * prices.storage_gb_month;

function readCost(files: number, scans: number, prices: UnitPrices): number {
  const opened = files * scans;
  const requests = ((opened * GETS_PER_FILE) / 1_000) * prices.get_1000;
  return requests + ((opened * OPEN_SECONDS) / 3_600) * prices.vcpu_hour;
}

function monthlyCost(
  size: StoredBytes | null,
  files: number | null,
  readsPerDay: number | null,
  prices: UnitPrices,
): ComparedCost['cost'] {
  const storage = size && storageCost(size.live + size.metadata, prices);
  const held = size && storageCost(size.held, prices);
  const known = files !== null && readsPerDay !== null;
  const requests = known ? readCost(files, readsPerDay * MONTH_DAYS, prices) : null;
  const total = storage === null || held === null || requests === null ? null : storage + held + requests;
  return { storage, held, requests, total };
}

/** Costs now; with held bytes freed; with small files compacted; with both. */
export function compareCosts(size: StoredBytes | null, load: Load, prices: UnitPrices): ComparedCost[] {
  const expired = size && { ...size, held: 0 };
  const cases = [
    ['now', size, load.live_files],
    ['expired', expired, load.live_files],
    ['compacted', size, load.compacted_files],
    ['expired_and_compacted', expired, load.compacted_files],
  ] as const;
  return cases.map(([situation, left, files]) => {
    const cost = monthlyCost(left, files, load.reads_per_day, prices);
    const live = size?.live ?? 0;
    return { situation, cost, per_gb_month: cost.total === null || !live ? null : cost.total / (live / GB) };
  });
}

/** What a situation saves against now. A part that stays the same saves 0, also where it is not known. */
export function savedBy(row: ComparedCost, now: ComparedCost): number | null {
  const expires = row.situation === 'expired' || row.situation === 'expired_and_compacted';
  const compacts = row.situation === 'compacted' || row.situation === 'expired_and_compacted';
  const held = expires ? difference(now.cost.held, row.cost.held) : 0;
  const requests = compacts ? difference(now.cost.requests, row.cost.requests) : 0;
  return held === null || requests === null ? null : held + requests;
}
const difference = (a: number | null, b: number | null) => (a === null || b === null ? null : a - b);

/** `0.023`, `0,0004` of a field; null: no amount. */
export function readAmount(text: string): number | null {
  const trimmed = text.trim();
  return /^\d{1,9}([.,]\d{1,9})?$/.test(trimmed) ? Number(trimmed.replace(',', '.')) : null;
}

/** A number as a field has it: without an exponent, nine digits at most. */
export const amountText = (value: number): string => value.toFixed(9).replace(/\.?0+$/, '');
