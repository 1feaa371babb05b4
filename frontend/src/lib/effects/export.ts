// Rows of the ledger as CSV: values as they are, not as they are printed.
import { csv } from '#lib/format/csv.ts';
import { iso } from '#lib/format/instant.ts';
import type { LedgerRow } from './words.ts';

const COLUMNS: readonly (readonly [name: string, of: (row: LedgerRow) => string | number | null])[] = [
  ['committed_at', (row) => iso(row.committed_at)],
  ['catalog', (row) => row.catalog],
  ['namespace', (row) => row.namespace],
  ['table', (row) => row.table],
  ['table_uuid', (row) => row.table_uuid],
  ['operation_id', (row) => row.operation_id],
  ['action', (row) => row.action],
  ['writer', (row) => row.writer],
  ['owner', (row) => row.owner],
  ['job', (row) => row.job_name],
  ['measure', (row) => row.measure],
  ['verdict', (row) => row.verdict],
  ['because', (row) => row.because],
  ['ratio', (row) => row.ratio],
  ['ratio_low', (row) => row.ratio_low],
  ['ratio_high', (row) => row.ratio_high],
  ['change', (row) => row.change],
  ['change_low', (row) => row.change_low],
  ['change_high', (row) => row.change_high],
  ['change_unit', (row) => (row.measure === 'files' ? 'files' : 'seconds')],
  ['runs_before', (row) => row.runs_before],
  ['runs_after', (row) => row.runs_after],
  ['more_runs', (row) => row.more_runs],
  ['controls', (row) => row.controls],
  ['other_commits', (row) => row.others.join(' ')],
  ['measured_at', (row) => (row.measured_at === null ? null : iso(row.measured_at))],
  ['plan_id', (row) => row.plan?.plan_id ?? null],
];

export const ledgerCsv = (rows: readonly LedgerRow[]): string =>
  csv([COLUMNS.map(([name]) => name), ...rows.map((row) => COLUMNS.map(([, of]) => of(row)))]);
