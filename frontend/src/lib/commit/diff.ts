// Rows of the before-and-after table: names of metrics and numbers in their unit. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { bytes } from '#lib/format/bytes.ts';
import { count, signed } from '#lib/format/count.ts';

type Diff = Schemas['Diff'];

const NAMES: Record<string, string> = {
  data_files: 'Data files',
  total_data_files: 'Data files',
  delete_files: 'Delete files',
  total_delete_files: 'Delete files',
  records: 'Records',
  total_records: 'Records',
  bytes: 'Bytes',
  total_bytes: 'Bytes',
  average_file: 'Average file',
  average_file_bytes: 'Average file',
  avg_file_size: 'Average file',
  position_deletes: 'Position deletes',
  equality_deletes: 'Equality deletes',
};

/** `total_data_files` → `Data files`; a metric without a name of its own reads as it is written. */
export function metricName(metric: string): string {
  const plain = metric.replace(/^total_/, '').replaceAll('_', ' ');
  return NAMES[metric] ?? plain.charAt(0).toUpperCase() + plain.slice(1);
}

export interface DiffRow {
  name: string;
  before: string;
  after: string;
  change: string;
  /** Both sides were read. */
  known: boolean;
}

export function diffRow(diff: Diff): DiffRow {
  const print = diff.unit === 'bytes' || diff.unit === 'bytes_per_file' ? bytes : count;
  return {
    name: metricName(diff.metric),
    before: print(diff.before),
    after: print(diff.after),
    change: signed(diff.delta, print),
    known: diff.delta !== null,
  };
}
