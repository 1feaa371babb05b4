// A forecast for tests: small files of a table whose compaction is overdue.
import type { RiskRow } from './words.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Saturday. */
export const NOW = Date.parse('2026-11-21T06:00:00Z');

export const risk = (change: Partial<RiskRow> = {}): RiskRow => ({
  ...{ catalog: 'lake', namespace: 'sales', table: 'orders', table_uuid: 'u-1', owner: 'core' },
  ...{ metric: 'small_files' as const, job_name: null, state: 'at_risk' as const, as_of: NOW - HOUR },
  ...{ hours: 168, threshold: 10_000, level: 4_300, p10: 8_900, p50: 11_400, p90: 14_200 },
  ...{ p_cross: 0.72, p_cross_if_maintained: 0.11, driver: 'small_files' as const },
  ...{ crosses_from: NOW + 3 * DAY, crosses_to: NOW + 5 * DAY, growth_per_day: 1_900 },
  ...{ usual_drop_hours: 24, last_drop_hours: 84, abstained: null, readers: 3, finding_id: null },
  ...change,
});
