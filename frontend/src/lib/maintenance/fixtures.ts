// A plan, a row and the advice of a table for tests: a compaction of three partitions.
import type { MaintenanceRow, Plan, TableAdvice } from './words.ts';

export function plan(change: Partial<Plan> = {}): Plan {
  return {
    ...{ plan_id: '3f1c', action: 'rewrite_data_files', rule: 'compact', because: ['small_files'] },
    scope: {
      partitions: ['day=2026-11-18', 'day=2026-11-19', 'day=2026-11-20'],
      where: "day >= '2026-11-18'",
    },
    predicted: {
      ...{ files_in: 1840, files_out: 22, bytes_in: 9e9, bytes_out: 8.6e9, bytes_freed: null },
      seconds: { low: 240, mid: 390, high: 540 },
      cost: { low: 0.08, mid: 0.11, high: 0.19 },
    },
    value: {
      ...{ money_per_month: 1.65, payback_days: 2 },
      seconds_per_day: { mid: 720, basis: 'measured' },
    },
    guards: [
      { code: 'quiet', ok: true, text: 'No commit touches the partitions.' },
      { code: 'streaming_reader', ok: false, text: 'A stream may read the table.' },
    ],
    statements: { spark: 'CALL lake.system.rewrite_data_files()', trino: null, python: null },
    ...change,
  };
}

export const maintenanceRow = (change: Partial<MaintenanceRow> = {}): MaintenanceRow => ({
  ...{ catalog: 'lake', namespace: 'sales', table: 'orders', table_uuid: 'u-1', owner: 'sales-platform' },
  ...{ format: 'iceberg', rank: 1, evaluated_at: Date.UTC(2026, 10, 21, 5, 50), state: 'proposed' },
  ...{ seq: 1, arguments_sha256: 'ab'.repeat(32), entered_at: null, actor: 'limnograph' },
  recommendation: plan(),
  ...change,
});

export const tableAdvice = (change: Partial<NonNullable<TableAdvice['advice']>> = {}): TableAdvice => ({
  advice: {
    ...{ catalog: 'lake', namespace: 'sales', table: 'orders', table_uuid: 'u-1', format: 'iceberg' },
    ...{ snapshot_id: '5184430069070270604', status: 'ok', findings: [], recommendations: [plan()] },
    not_worth: [{ rule: 'expire', text: 'saves 0.27 USD a month, costs 0.11 USD and two rewrites of 38 GB' }],
    not_known: [{ rule: 'orphans', missing: 'no listing of the storage within 7 days' }],
    bytes: {
      ...{ live: 38e9, held: 12e9, metadata: 4e7 },
      ...{
        by_ref: { audit: 2e9 },
        by_age: [
          [1, 12e9],
          [5, 4e9],
          [30, 0],
        ],
      },
    },
    cost_per_month: { storage: 0.87, held: 0.28, requests: null, total: null },
    ...{ currency: 'USD', prices_as_of: '2026-11-01' },
    ...change,
  },
  ...{ evaluated_at: Date.UTC(2026, 10, 21, 5, 50), writer: 'nightly_events', writer_job: 'load_events' },
  ...{ problem: null, prices_are_default: true, plans: [], notes: [] },
});
