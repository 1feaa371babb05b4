// A page of reads as the server returns it: three engines, a filter that nothing prunes, a reader of an old snapshot.
import type { Schemas } from '#lib/api/client.ts';
import { SILENT } from '#lib/contention/fixtures.ts';

export const NOW = Date.UTC(2026, 10, 21, 6);
const HOUR = 3_600_000;

const none: Schemas['Durations'] = { count: 0, p50: null, p95: null, max: null };

export const numbers = (change: Partial<Schemas['ReadNumbers']> = {}): Schemas['ReadNumbers'] => ({
  ...{ scans: 412, queries: 88, files_opened: 30_000, files_skipped: 11_000, live_scans: 400 },
  planning: { count: 412, p50: 0.24, p95: 1.4, max: 3.2 },
  query: { count: 88, p50: 4.1, p95: 12.5, max: 61 },
  ...{ live_files_opened: 29_000, live_files: 400_000, skipped_share: 0.9275 },
  ...{ manifests_scanned: 900, manifests_skipped: 300, bytes: 4e12, delete_files: 60 },
  ...{ deletes_per_file: 0.002, rows: 1e9, read_bytes: 1.2e11, bytes_per_row: 120, last_at: NOW - 60_000 },
  ...change,
});

export const NOTHING = numbers({
  ...{ scans: 0, queries: 0, files_opened: 0, files_skipped: 0, live_scans: 0, planning: none, query: none },
  ...{ live_files_opened: 0, live_files: 0, skipped_share: null, manifests_scanned: 0, manifests_skipped: 0 },
  ...{ bytes: 0, delete_files: 0, deletes_per_file: null, rows: 0, read_bytes: 0, bytes_per_row: null },
  last_at: null,
});

export const filter = (change: Partial<Schemas['FilterColumn']> = {}): Schemas['FilterColumn'] => ({
  ...{ column: 'customer_id', scans: 332, share: 0.83, partitions: false, sorts: false },
  ...change,
});

export const point = (change: Partial<Schemas['ReadPoint']> = {}): Schemas['ReadPoint'] => ({
  ...{ t: NOW - 2 * HOUR, scans: 17, queries: 4, planning_p95: 1.1, query_p95: 9.5 },
  ...{ skipped_share: 0.9, overlap_depth: 7 },
  ...change,
});

export const merges = (change: Partial<Schemas['MergeOnRead']> = {}): Schemas['MergeOnRead'] => ({
  modes: [
    { operation: 'delete', mode: 'merge-on-read', declared: true },
    { operation: 'update', mode: 'copy-on-write', declared: false },
    { operation: 'merge', mode: 'merge-on-read', declared: true },
  ],
  ...{ data_files: 1_000, bytes: 4e11, delete_files: 380, delete_bytes: 2.4e9 },
  ...{ deletes_per_data_file: 0.38, delete_bytes_ratio: 0.006, oldest_delete_at: NOW - 40 * HOUR },
  ...{ merged_files: 0.42, merged_bytes: 2.6e6, merging_commits: 31, changed_share: 0.004 },
  ...{ rewriting_commits: 0, small_rewrites: 0, rewritten_bytes: 0 },
  ...{ fits: 'copy-on-write', because: 'reads_merge_much' },
  ...change,
});

export const readsPage = (change: Partial<Schemas['ReadsPage']> = {}): Schemas['ReadsPage'] => ({
  ...{ catalog: 'lake', namespace: 'sales', table: 'customer_events', format: 'iceberg', status: 'ok' },
  ...{ watermark: NOW, notes: [], range: { start: NOW - 24 * HOUR, end: NOW }, resolution: 'raw' },
  total: numbers(),
  engines: [
    { engine: 'spark', numbers: numbers({ scans: 380, queries: 0, query: none }) },
    { engine: 'trino', numbers: numbers({ scans: 32, planning: none, skipped_share: null }) },
    { engine: null, numbers: numbers({ scans: 0, queries: 1 }) },
  ],
  step_s: 3_600,
  points: Array.from({ length: 24 }, (_, i) =>
    point({ t: NOW - (24 - i) * HOUR, skipped_share: i === 5 ? null : 0.5 + i / 50, overlap_depth: 2 + i }),
  ),
  filters_known: 400,
  filters: [
    filter(),
    filter({ column: 'event_date', scans: 60, share: 0.15, partitions: true }),
    filter({ column: 'region', scans: 8, share: 0.02, sorts: true }),
  ],
  readers: [
    {
      ...{ engine: 'spark', engine_version: '4.1.0', job: 'rollup_customer_events' },
      users: [{ user: 'etl', reads: 380 }],
      ...{ scans: 380, queries: 0, last_at: NOW - 60_000 },
    },
    {
      ...{ engine: 'trino', engine_version: '476', job: null },
      users: [
        { user: 'ana', reads: 60 },
        { user: 'bo', reads: 28 },
      ],
      ...{ scans: 0, queries: 88, last_at: NOW - HOUR },
    },
  ],
  stale: [
    {
      ...{ engine: 'trino', job: 'dashboard', snapshot_id: '5184430069070270604', reads: 12 },
      ...{ last_at: NOW - HOUR, behind_seconds: 9_000, behind_commits: 31 },
    },
  ],
  merges: merges(),
  contention: SILENT,
  ...change,
});
