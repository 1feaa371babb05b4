// A fleet row for tests: the smallest honest one, changed where a test needs it.
import type { Schemas } from '#lib/api/client.ts';

type Row = Schemas['TableRow'];

export const HOUR_MS = 3_600_000;
/** 2026-11-21T03:04:12Z */
export const AT = Date.UTC(2026, 10, 21, 3, 4, 12);
export const SNAPSHOT = '5184430069070270604';

/** Three hours in as many parts. */
export const fleetHeat = (...rows: Partial<Schemas['FleetHeatRow']>[]): Schemas['FleetHeat'] => ({
  ...{ from: AT - 3 * HOUR_MS, to: AT, total: rows.length, watermark: AT },
  rows: rows.map((own, i) => ({
    ...{ catalog: 'lake', namespace: 'sales', table: i === 0 ? 'customer_events' : `t${i}` },
    ...{ commits: [0, 0, 0], data_files: [0, 0, 0], alerts: [0, 0, 0], risk: ['none', 'none', 'none'] },
    ...own,
  })),
});

interface Change extends Partial<Omit<Row, 'values' | 'deltas' | 'reason'>> {
  values?: Partial<Row['values']>;
  deltas?: Partial<Row['deltas']>;
  reason?: Partial<Row['reason']>;
}

export function fleetRow({ values, deltas, reason, ...own }: Change = {}): Row {
  return {
    catalog: 'lake',
    namespace: 'sales',
    table: 'customer_events',
    table_uuid: 'u1',
    format: 'iceberg',
    status: 'ok',
    spark: [1202, 1202, 51202],
    growth: null,
    findings: [],
    owner: null,
    reads: null,
    ...own,
    values: {
      data_files: 51_202,
      delete_files: 33,
      records: 15_024_000,
      bytes: 192_000_000_000,
      small_files: 50_000,
      file_size_p50: 900_000,
      manifests: 91,
      live_snapshots: 120,
      skew_max_over_median: 2.9,
      commits: 24,
      last_committed_at: AT,
      job_duration_seconds: 160,
      job_p95_seconds: 171,
      ...values,
    },
    deltas: {
      data_files: 50_000,
      delete_files: 0,
      records: 600_000,
      bytes: 45_000_000_000,
      job_duration_ratio: 3.08,
      job_p95_ratio: 3.2,
      ...deltas,
    },
    reason: {
      code: 'file_burst',
      severity: 'critical',
      sentence: '50,000 files in one append at 03:04',
      magnitude: 50_000,
      snapshot_id: SNAPSHOT,
      at: AT,
      ...reason,
    },
  };
}
