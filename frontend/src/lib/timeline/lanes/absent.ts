// What to add so that a lane without data gets some. Loaded when a lane is absent.
import type { LaneId } from '#lib/api/lane-specs.ts';

const NEEDS_SIGNAL = 'No data. Let Prometheus scrape the Spark job, or set a query in [[jobs]].';
const NEEDS_REPORTS = 'No reads reported in this range. The page Reads says how engines report them.';

const NEEDS_ATTEMPTS =
  'No attempts reported in this range. The page Reads says which engines report commits.';

const REMEDIES: Partial<Record<LaneId, string>> = {
  alerts: 'No alerts received yet. Point the Alertmanager webhook at /api/v1/alertmanager.',
  job_duration: 'No job metrics for this table. Add [prometheus] and a job to the settings.',
  job_runs: 'No job runs for this table. Report them with limnograph.spark_metrics.',
  maintenance: 'No maintenance by limnograph maintain in this range.',
  planning: NEEDS_REPORTS,
  query_p95: NEEDS_REPORTS,
  skipped_share: NEEDS_REPORTS,
  read_amplification: NEEDS_REPORTS,
  attempts: NEEDS_ATTEMPTS,
  stream_lag: 'No measured stream writes this table. Call measure_streams of limnograph.spark_streams.',
  slot_lag: 'No data. Set a slot_lag query in [[jobs]].',
  cpu: NEEDS_SIGNAL,
  job_memory: NEEDS_SIGNAL,
  executors: NEEDS_SIGNAL,
  spill: 'No data. Set a spill query in [[jobs]].',
};

export const remedyOf = (lane: string): string =>
  REMEDIES[lane as LaneId] ?? 'Not computed yet for this table.';
