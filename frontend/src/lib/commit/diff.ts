// Rows of the before-and-after table: names of metrics and numbers in their unit. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { bytes } from '#lib/format/bytes.ts';
import { brief, count, signed } from '#lib/format/count.ts';

type Diff = Schemas['Diff'];

/** `data_files` → `Data files`: the server's words, for display. */
export function metricName(metric: string): string {
  const plain = metric.replace(/^total_/, '').replaceAll('_', ' ');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

const PRINT: Partial<Record<Diff['unit'], (value: number | null) => string>> = {
  bytes,
  bytes_per_file: bytes,
  // three columns of ten digits would not fit a phone
  rows: brief,
};

export interface DiffRow {
  name: string;
  before: string;
  after: string;
  change: string;
  /** Both sides were read. */
  known: boolean;
}

export function diffRow(diff: Diff): DiffRow {
  const print = PRINT[diff.unit] ?? count;
  return {
    name: metricName(diff.metric),
    before: print(diff.before),
    after: print(diff.after),
    change: signed(diff.delta, print),
    known: diff.delta !== null,
  };
}
