// A commit for tests: the one of the story, changed where a test needs it.
import type { Schemas } from '#lib/api/client.ts';

type CommitRow = Schemas['CommitRow'];

export const SNAPSHOT = '5184430069070270604';
const T = Date.UTC(2026, 10, 21, 3, 4, 12);
const EDGES = Array.from({ length: 20 }, (_, i) => 2 ** (13 + i));

export function commitRow(change: Partial<CommitRow> = {}): CommitRow {
  return {
    snapshot_id: SNAPSHOT,
    parent_id: '378142004021992640',
    catalog: 'lake',
    namespace: 'sales',
    table: 'customer_events',
    t: T,
    operation: 'append',
    on_main: true,
    engine: 'spark',
    app_id: 'app_17',
    app_name: 'backfill_customer_events',
    user: 'svc-backfill',
    added_data_files: 50_000,
    removed_data_files: 0,
    added_delete_files: 0,
    removed_delete_files: 0,
    added_records: 600_000,
    added_bytes: 45_000_000_000,
    total_data_files: 51_202,
    schema_changed: false,
    status: 'ok',
    provisional: false,
    ...change,
  };
}

export function commitDetail(change: Partial<Schemas['CommitDetail']> = {}): Schemas['CommitDetail'] {
  const before = EDGES.map((_, i) => (i === 13 ? 1202 : 0)).concat(0);
  const after = before.map((n, i) => (i === 7 ? 50_000 : n));
  return {
    commit: commitRow(),
    findings: [],
    parent: null,
    diff: [
      { metric: 'data_files', unit: 'files', before: 1202, after: 51_202, delta: 50_000 },
      { metric: 'bytes', unit: 'bytes', before: 147e9, after: 192e9, delta: 45e9 },
      { metric: 'manifests', unit: 'manifests', before: 41, after: null, delta: null },
    ],
    partitions: [
      {
        partition: 'dt=2026-11-20',
        data_files: 50_400,
        added_data_files: 50_000,
        removed_data_files: 0,
        bytes: 1,
      },
    ],
    partitions_changed: 1,
    shape: { edges: EDGES, before, after },
    target_file_bytes: 134_217_728,
    refs: ['main'],
    schema_id: 13,
    summary: { 'added-data-files': '50000', 'app-id': 'app_17' },
    summary_mismatch: [],
    problems: [],
    manifest_list: null,
    metadata_location: null,
    writer_user: 'm.okafor',
    writer_engine_version: '4.1.0',
    written_by_job: 'backfill_customer_events',
    written_by_run: null,
    attempts: null,
    stream: null,
    effects: [
      {
        job: 'churn',
        last_run: null,
        role: 'reads',
        verdict: 'worse',
        because: 'between +204 % and +211 %',
        runs_before: 30,
        runs_after: 12,
        median_before_s: 52.1,
        median_after_s: 160.4,
        ...{ ratio: 3.07, ratio_low: 3.04, ratio_high: 3.11 },
        ...{ change_s: 108.1, change_low_s: 106.4, change_high_s: 109.8 },
        ...{ more_runs: null, controls: 2 },
      },
    ],
    previous_id: '378142004021992640',
    next_id: null,
    touched: { spark_sql: null, note: null },
    expired: null,
    ...change,
  };
}
