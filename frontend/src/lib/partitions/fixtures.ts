// A partitions page as the server answers it: one partition grew from 84 to 50,084 files at 03:04.
import type { Schemas } from '#lib/api/client.ts';

export const BURST = Date.UTC(2026, 10, 21, 3, 4, 12);
const HOUR = 3_600_000;
const EDGES = Array.from({ length: 20 }, (_, i) => 2 ** (13 + i));
const counts = (small: number, right: number) =>
  Array.from({ length: 21 }, (_, i) => (i === 7 ? small : i === 14 ? right : 0));

const at = (change: Partial<Schemas['Instant']>): Schemas['Instant'] => ({
  t: BURST + HOUR,
  snapshot_id: '5184430069070270604',
  committed_at: BURST,
  data_files: 51_202,
  delete_files: 0,
  bytes: 190e9,
  small_files: 50_003,
  partitions: 14,
  target_file_bytes: 134_217_728,
  skew_max_over_median: 5.9,
  skew_top1_share: 0.4,
  histogram: counts(50_003, 1_199),
  ...change,
});

export const partitionRow = (change: Partial<Schemas['PartitionRow']> = {}): Schemas['PartitionRow'] => ({
  partition: 'dt=2026-11-20',
  spec_id: 0,
  data_files: 50_084,
  delete_files: 0,
  small_files: 50_000,
  records: 1_000_000,
  bytes: 55e9,
  average_file_bytes: 1.1e6,
  files_share: 0.978,
  bytes_share: 0.29,
  bytes_over_median: 5.9,
  delete_ratio: 0.001,
  delete_bytes: 0,
  delete_bytes_ratio: 0,
  oldest_delete_at: null,
  last_committed_at: BURST,
  data_files_delta: 50_000,
  bytes_delta: 45e9,
  ...change,
});

export const partitionsPage = (
  change: Partial<Schemas['PartitionsPage']> = {},
): Schemas['PartitionsPage'] => ({
  catalog: 'lake',
  namespace: 'sales',
  table: 'customer_events',
  format: 'iceberg',
  status: 'ok',
  watermark: BURST + 2 * HOUR,
  notes: [],
  edges: EDGES,
  spec_id: 0,
  partition_fields: [{ name: 'dt', transform: 'day', source_id: 2 }],
  after: at({}),
  before: at({
    t: BURST - HOUR,
    snapshot_id: '378142004021992640',
    data_files: 1_202,
    small_files: 3,
    histogram: counts(3, 1_199),
  }),
  named: 14,
  matching: 2,
  rows: [
    partitionRow(),
    partitionRow({
      partition: 'dt=2026-11-19',
      data_files: 64,
      files_share: 0.0012,
      data_files_delta: 0,
      small_files: null,
      last_committed_at: null,
    }),
  ],
  rest: null,
  range: { start: BURST - 6 * HOUR, end: BURST + 3 * HOUR },
  track: {
    t: [BURST - 6 * HOUR, BURST, BURST + 2 * HOUR],
    data_files: [1_202, 51_202, null],
  },
  heat: {
    t: Array.from({ length: 9 }, (_, i) => BURST + (i - 6) * HOUR),
    step: HOUR,
    rows: [
      { partition: 'dt=2026-11-20', spec_id: 0, data_files: [84, 84, 84, 84, 84, 84, 50_084, 50_084, null] },
      { partition: 'dt=2026-11-19', spec_id: 0, data_files: [64, 64, 64, 64, 64, 64, 64, 64, null] },
    ],
  },
  ...change,
});
