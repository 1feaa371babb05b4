// The fleet's rows as CSV: values as they are, not as they are printed.
import type { Schemas } from '#lib/api/client.ts';
import { csv } from '#lib/format/csv.ts';
import { iso } from '#lib/format/instant.ts';

type Row = Schemas['TableRow'];

const instant = (ms: number | null) => (ms === null ? null : iso(ms));
const COLUMNS: readonly (readonly [name: string, of: (row: Row) => string | number | null])[] = [
  ['catalog', (row) => row.catalog],
  ['namespace', (row) => row.namespace],
  ['table', (row) => row.table],
  ['owner', (row) => row.owner ?? null],
  ['status', (row) => row.status],
  ['reason', (row) => row.reason.code],
  ['sentence', (row) => row.reason.sentence],
  ['job_duration_seconds', (row) => row.values.job_duration_seconds],
  ['job_duration_ratio', (row) => row.deltas.job_duration_ratio],
  ['job_p95_seconds', (row) => row.values.job_p95_seconds],
  ['job_p95_ratio', (row) => row.deltas.job_p95_ratio],
  ['data_files', (row) => row.values.data_files],
  ['delta_data_files', (row) => row.deltas.data_files],
  ['growth_share', (row) => row.growth?.share ?? null],
  ['small_files', (row) => row.values.small_files],
  ['delete_files', (row) => row.values.delete_files],
  ['delta_delete_files', (row) => row.deltas.delete_files],
  ['records', (row) => row.values.records],
  ['delta_records', (row) => row.deltas.records],
  ['bytes', (row) => row.values.bytes],
  ['delta_bytes', (row) => row.deltas.bytes],
  ['file_size_p50', (row) => row.values.file_size_p50],
  ['manifests', (row) => row.values.manifests],
  ['live_snapshots', (row) => row.values.live_snapshots],
  ['skew_max_over_median', (row) => row.values.skew_max_over_median],
  ['planning_p95_seconds', (row) => row.reads?.planning_p95_seconds ?? null],
  ['query_p95_seconds', (row) => row.reads?.query_p95_seconds ?? null],
  ['missed_share', (row) => row.reads?.missed_share ?? null],
  ['commits', (row) => row.values.commits],
  ['last_committed_at', (row) => instant(row.values.last_committed_at)],
];

export const fleetCsv = (rows: readonly Row[]): string =>
  csv([COLUMNS.map(([name]) => name), ...rows.map((row) => COLUMNS.map(([, of]) => of(row)))]);
