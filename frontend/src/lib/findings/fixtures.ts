// A finding for tests: the burst of 02:08:42, seen at 06:00 UTC of the same day, changed where a test needs it.
import type { FindingEffect } from './effect.ts';
import type { Finding } from './words.ts';

export const NOW = Date.UTC(2026, 10, 21, 6);
export const OPENED = Date.UTC(2026, 10, 21, 2, 8, 42);
export const SNAPSHOT = '5184430069070270604';

export function finding(change: Partial<Finding> = {}): Finding {
  return {
    ...{ finding_id: 'f'.repeat(32), code: 'file_burst', group: 'files', subject: '', state: 'open' },
    ...{ severity: 'critical', catalog: 'lake', namespace: 'sales', table: 'orders', table_uuid: 'u-1' },
    ...{ opened_at: OPENED, closed_at: null, closed_by: null, recurrences: 0, evaluated_at: NOW - 1_000 },
    ...{ acknowledged_until: null, acknowledged_by: null, owner: null, notes: 0 },
    cause: { snapshot_ids: [SNAPSHOT], writer: 'demo_burst', share: 1 },
    effects: [effect()],
    evidence: { files: 1500, bytes: 3_000_000, files_before: 120, removed_files: 0, total_data_files: 1620 },
    ...change,
  };
}

export function effect(change: Partial<FindingEffect> = {}): FindingEffect {
  return {
    ...{ job_name: 'churn', verdict: 'slower', because: '', ratio: 3.08, ratio_low: 2.6, ratio_high: 3.7 },
    ...{ seconds: 108.2, runs: 12, since: OPENED, last_run_at: NOW - 60_000 },
    ...change,
  };
}

/** A job whose runs ended before the finding opened. */
export const silent = (change: Partial<FindingEffect> = {}): FindingEffect =>
  effect({
    ...{ verdict: 'no_data_yet', because: '0 of 8 runs', ratio: null, ratio_low: null, ratio_high: null },
    ...{ seconds: null, runs: 0, last_run_at: OPENED - 7 * 60_000 - 42_000 },
    ...change,
  });

/** Closed by the commit of 05:30. */
export const recovered = (change: Partial<Finding> = {}): Finding =>
  finding({
    ...{
      finding_id: 'e'.repeat(32),
      state: 'closed',
      closed_at: NOW - 30 * 60_000,
      closed_by: '378142004021992640',
    },
    ...{
      severity: 'warning',
      effects: [],
      evidence: { files: 1500, bytes: 3_000_000, files_before: 120, removed_files: 1300 },
    },
    ...change,
  });
