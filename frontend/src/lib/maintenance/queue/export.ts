// Plans of the queue as CSV: values as they are, not as they are printed.
import { csv } from '#lib/format/csv.ts';
import { iso } from '#lib/format/instant.ts';
import { openGuards, type MaintenanceRow } from '#lib/maintenance/words.ts';

type Column = readonly [name: string, of: (row: MaintenanceRow) => string | number | null];

const COLUMNS: readonly Column[] = [
  ['rank', (row) => row.rank],
  ['catalog', (row) => row.catalog],
  ['namespace', (row) => row.namespace],
  ['table', (row) => row.table],
  ['owner', (row) => row.owner],
  ['format', (row) => row.format],
  ['rule', ({ recommendation }) => recommendation.rule],
  ['action', ({ recommendation }) => recommendation.action],
  ['because', ({ recommendation }) => recommendation.because.join(' ')],
  ['partitions', ({ recommendation }) => recommendation.scope.partitions.length || null],
  ['files_in', ({ recommendation }) => recommendation.predicted.files_in],
  ['files_out', ({ recommendation }) => recommendation.predicted.files_out],
  ['bytes_in', ({ recommendation }) => recommendation.predicted.bytes_in],
  ['bytes_out', ({ recommendation }) => recommendation.predicted.bytes_out],
  ['bytes_freed', ({ recommendation }) => recommendation.predicted.bytes_freed],
  ['seconds_low', ({ recommendation }) => recommendation.predicted.seconds?.low ?? null],
  ['seconds', ({ recommendation }) => recommendation.predicted.seconds?.mid ?? null],
  ['seconds_high', ({ recommendation }) => recommendation.predicted.seconds?.high ?? null],
  ['cost_low', ({ recommendation }) => recommendation.predicted.cost?.low ?? null],
  ['cost', ({ recommendation }) => recommendation.predicted.cost?.mid ?? null],
  ['cost_high', ({ recommendation }) => recommendation.predicted.cost?.high ?? null],
  ['saved_per_month', ({ recommendation }) => recommendation.value.money_per_month],
  ['payback_days', ({ recommendation }) => recommendation.value.payback_days],
  [
    'guards_open',
    ({ recommendation }) =>
      openGuards(recommendation)
        .map(({ code }) => code)
        .join(' '),
  ],
  ['plan_id', ({ recommendation }) => recommendation.plan_id],
  ['evaluated_at', (row) => iso(row.evaluated_at)],
];

export const plansCsv = (rows: readonly MaintenanceRow[], currency: string): string =>
  csv([
    [...COLUMNS.map(([name]) => name), 'currency'],
    ...rows.map((row) => [...COLUMNS.map(([, of]) => of(row)), currency]),
  ]);
