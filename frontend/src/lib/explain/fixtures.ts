// The story's explanation, for tests: an append of 50,000 files, then a slowdown, then the compaction that ended it.
import type { Commit, Label, Page } from './case.ts';

export const BURST = '5184430069070270604';
const REPAIR = '5330861960425396318';
export const AT = Date.parse('2026-11-21T03:04:12Z');
const FROM = Date.parse('2026-11-21T00:00:00Z');
const MINUTE = 60_000;

const commitRow = (change: Partial<Commit> = {}): Commit => ({
  snapshot_id: BURST,
  parent_id: null,
  catalog: 'lake',
  namespace: 'sales',
  table: 'customer_events',
  t: AT,
  operation: 'append',
  on_main: true,
  engine: 'spark',
  app_id: 'app-17',
  app_name: 'backfill_customer_events',
  user: 'svc-backfill',
  added_data_files: 50_000,
  removed_data_files: 0,
  added_delete_files: 0,
  removed_delete_files: 0,
  added_records: 304_942_056,
  added_bytes: 45_304_185_450,
  total_data_files: 51_202,
  schema_changed: false,
  status: 'ok',
  provisional: false,
  ...change,
});

export const label = (change: Partial<Label> = {}): Label => ({
  kind: 'confirmed',
  snapshot_id: BURST,
  t: FROM + 6 * 60 * MINUTE,
  job_name: 'rollup_customer_events',
  author: 'ada',
  comment: null,
  ...change,
});

const hypothesis = (change: Partial<Page['explanation']['hypotheses'][number]>) => ({
  kind: 'none' as const,
  posterior: 0,
  change: 0,
  commit_id: null,
  table: null,
  lag_seconds: null,
  scores: null,
  evidence: null,
  similar: null,
  grade: null,
  unlabelled: null,
  ...change,
});

type CompetingChange = Page['around'][number]['competing'][number];
export const competing = (
  kind: CompetingChange['kind'],
  change: Partial<CompetingChange> = {},
): CompetingChange => ({
  ...{ kind, series: 1, moved: 0, ratio: 1, before: null, after: null, unit: null, at: null, problem: null },
  ...change,
});

export const explainPage = (change: Partial<Page> = {}): Page => ({
  finding: null,
  job: 'rollup_customer_events',
  from: FROM,
  to: FROM + 6 * 60 * MINUTE,
  since: FROM - 24 * 60 * MINUTE,
  selected: { from: FROM, to: FROM + 6 * 60 * MINUTE, runs: 120, median_seconds: 53.6 },
  baseline: { kind: 'before', from: FROM - 24 * 60 * MINUTE, to: FROM, runs: 360, median_seconds: 52 },
  runs: 480,
  controls: 0,
  tables: ['lake.sales.customer_events'],
  explanation: {
    id: 'x',
    changes: [
      {
        onset: AT + 48_000,
        kind: 'step',
        effect_ratio: 3.05,
        effect_seconds: 107,
        probability: 1,
        onset_from: AT + 48_000,
        onset_to: AT + 48_000,
        before_seconds: 52,
        after_seconds: 159,
        runs: 29,
      },
      {
        onset: AT + 148 * MINUTE,
        kind: 'drop',
        effect_ratio: 0.33,
        effect_seconds: -107,
        probability: 1,
        onset_from: AT + 148 * MINUTE,
        onset_to: AT + 148 * MINUTE,
        before_seconds: 159,
        after_seconds: 52,
        runs: 60,
      },
    ],
    hypotheses: [
      hypothesis({
        kind: 'commit',
        posterior: 0.99,
        change: 1,
        commit_id: REPAIR,
        table: 'lake.sales.customer_events',
      }),
      hypothesis({
        kind: 'commit',
        posterior: 0.96,
        commit_id: BURST,
        table: 'lake.sales.customer_events',
        lag_seconds: 48,
        scores: { timing: 0.92, magnitude: 1, mechanism: 0.94, recurrence: 0.5 },
        evidence: [
          {
            part: 'mechanism',
            speaks: 'for',
            text: 'Added data files: 50,000, typically 2 for this table.',
            value: 50_000,
            typical: 2,
          },
          {
            part: 'magnitude',
            speaks: 'against',
            text: 'At the same time other jobs changed.',
            value: 0.2,
            typical: null,
          },
        ],
        similar: { commits: 3, followed: 2, confirmed: 0, rejected: 0 },
        grade: 'declared',
      }),
      hypothesis({ posterior: 0.03 }),
      hypothesis({ kind: 'infrastructure', posterior: 0.01 }),
      hypothesis({ posterior: 0.01, change: 1 }),
    ],
    blamed: [BURST],
    verdict: `Most likely: commit ${BURST} of lake.sales.customer_events coincides with the slowdown from 52 s to 159 s.`,
    confidence: 'strong',
  },
  suspects: [
    commitRow(),
    commitRow({
      snapshot_id: REPAIR,
      operation: 'replace',
      added_data_files: 352,
      removed_data_files: 50_000,
      t: AT + 146 * MINUTE,
    }),
  ],
  around: [
    {
      ...{
        runs_before: 100,
        runs_after: 49,
        low_seconds: 105.4,
        high_seconds: 108.7,
        unbounded_because: null,
      },
      competing: [competing('jobs', { series: 16, moved: 1, ratio: 0.997 })],
    },
    {
      runs_before: 49,
      runs_after: 6,
      low_seconds: null,
      high_seconds: null,
      unbounded_because: '4 runs after; at least 5 are needed',
      competing: [],
    },
  ],
  differences: [
    { part: 'files', value: null, unit: 'files', selected: 1527.9, baseline: 11.8, weight: 0.99 },
    {
      part: 'writer',
      value: 'append by backfill_customer_events',
      unit: 'share',
      selected: 0.99,
      baseline: 0,
      weight: 0.99,
    },
    { part: 'file_size', value: null, unit: 'bytes', selected: 906_083, baseline: null, weight: 0 },
  ],
  labels: [],
  notes: [
    'Runs of other jobs are unknown: effects that are common to all jobs cannot be distinguished from those of commits.',
  ],
  watermark: FROM + 6 * 60 * MINUTE,
  pending: null,
  queries: {
    ...{ promql: 'spark_job_duration_seconds', sql: 'SELECT committed_at FROM limnograph.snapshots' },
    prometheus: null,
  },
  sure_from: { strong: 0.85, possible: 0.5, weak: 0.2 },
  ...change,
});

/** The same without any change of the job. */
export const quiet = (verdict: string, change: Partial<Page> = {}): Page => {
  const { explanation, ...rest } = explainPage(change);
  const unchanged = {
    ...explanation,
    changes: [],
    hypotheses: [hypothesis({ posterior: 1 })],
    blamed: [],
    verdict,
  };
  return { ...rest, explanation: { ...unchanged, confidence: 'none' }, suspects: [], around: [] };
};
