// A row of the ledger for tests: the compaction of 05:30 and what it did to one job.
import type { Schemas } from '#lib/api/client.ts';
import type { LedgerRow } from './words.ts';

export const SNAPSHOT = '5184430069070270604';

export function ledgerRow(change: Partial<LedgerRow> = {}): LedgerRow {
  return {
    ...{ catalog: 'lake', namespace: 'sales', table: 'orders', table_uuid: 'u-1' },
    ...{ operation_id: SNAPSHOT, snapshot_id: SNAPSHOT, action: 'rewrite_data_files' },
    ...{ writer: 'nightly', owner: 'platform', committed_at: Date.UTC(2026, 10, 21, 5, 30) },
    ...{ job_name: 'churn', measure: 'duration', verdict: 'helped', because: 'between -19 % and -8 %' },
    ...{ ratio: 0.86, ratio_low: 0.81, ratio_high: 0.92, change: -14, change_low: -19, change_high: -8 },
    ...{ runs_before: 96, runs_after: 24, more_runs: null, controls: 3, others: [] },
    ...{ measured_at: Date.UTC(2026, 10, 21, 5, 55), plan: null },
    ...change,
  };
}

export const ledgerPage = (rows: LedgerRow[]): Schemas['LedgerPage'] => {
  const number = (verdict: LedgerRow['verdict']) => rows.filter((row) => row.verdict === verdict).length;
  return {
    rows,
    counts: {
      ...{ helped: number('helped'), worse: number('worse'), none: number('none') },
      ...{ unknown: number('unknown'), confounded: number('confounded') },
      ...{ not_separable: number('not_separable'), no_data_yet: number('no_data_yet') },
    },
    coverage: { cuts: 210, covered: 202 },
    choices: {
      tables: ['lake.sales.orders'],
      owners: [],
      actions: [],
      writers: ['nightly'],
      jobs: ['churn'],
    },
    ...{ since: 0, watermark: Date.UTC(2026, 10, 21, 6), notes: [], next_cursor: null },
  };
};

const nothing = { ratio: null, ratio_low: null, ratio_high: null } as const;
const unchanged = { change: null, change_low: null, change_high: null } as const;
/** A row of each verdict. */
export const EACH: readonly LedgerRow[] = [
  ledgerRow(),
  ledgerRow({ job_name: 'slow', verdict: 'worse', ratio: 1.18, ratio_low: 1.08, ratio_high: 1.29 }),
  ledgerRow({ job_name: 'same', verdict: 'none', ratio: 1.01, ratio_low: 0.98, ratio_high: 1.03 }),
  ledgerRow({
    ...{ job_name: 'open', verdict: 'unknown', because: 'between -12 % and +9 %', more_runs: 9 },
    ...{ ratio: 0.97, ratio_low: 0.88, ratio_high: 1.09 },
  }),
  ledgerRow({
    ...{ ...nothing, ...unchanged, job_name: 'both', verdict: 'confounded', others: ['378142004021992640'] },
    because: 'another overwrite with at most one run between',
  }),
  ledgerRow({
    ...{ ...nothing, ...unchanged, job_name: 'alone', verdict: 'not_separable' },
    because: 'the controls disagree about that time',
  }),
  ledgerRow({
    ...{
      ...nothing,
      ...unchanged,
      job_name: 'fresh',
      verdict: 'no_data_yet',
      because: '',
      runs_before: null,
    },
    ...{ runs_after: 3, controls: null, measured_at: null },
  }),
];
