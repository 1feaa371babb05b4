// The evidence of a finding: numbers and texts by name, any of which may be missing, and their labels and units. Pure.
import { bytes } from '#lib/format/bytes.ts';
import { count, percent, ratio } from '#lib/format/count.ts';
import { duration, seconds } from '#lib/format/duration.ts';
import { instant } from '#lib/format/instant.ts';
import { driverWord, metricNamed, printLevel } from '#lib/forecast/words.ts';
import type { Finding } from './words.ts';

type Values = Finding['evidence'];

/** Reads values by name; null is a value that is missing, never 0. */
export class Evidence {
  readonly #values: Values;

  constructor(values: Values) {
    this.#values = values;
  }

  number(name: string): number | null {
    const value = this.#values[name];
    return typeof value === 'number' && Number.isFinite(value) ? value : null;
  }

  text(name: string): string | null {
    const value = this.#values[name];
    return value === undefined || value === '' ? null : String(value);
  }

  /** `1,500 files`: a number with what is counted; null if it is missing. */
  counted(name: string, one: string, many = `${one}s`): string | null {
    const value = this.number(name);
    return value === null ? null : `${count(value)} ${value === 1 ? one : many}`;
  }

  /** `2 kB on average`: of bytes over a number of parts; null if either is missing, or if there are no parts. */
  average(sum: string, parts: string): string | null {
    const [whole, number] = [this.number(sum), this.number(parts)];
    if (whole === null || number === null || number <= 0) return null;
    return `${bytes(whole / number).replace('.0 ', ' ')} on average`;
  }
}

const LABELS: Record<string, readonly [label: string, print: (value: number) => string]> = {
  files: ['Files added', count],
  bytes: ['Bytes added', bytes],
  files_before: ['Data files before', count],
  removed_files: ['Of those, removed since', count],
  total_data_files: ['Data files', count],
  total_bytes: ['Bytes of data files', bytes],
  debt_files: ['Data files to rewrite', count],
  debt_saved_files: ['Data files that compaction would save', count],
  total_delete_files: ['Delete files', count],
  total_equality_deletes: ['Rows in equality deletes', count],
  live_snapshots: ['Snapshots', count],
  metadata_bytes: ['Metadata file', bytes],
  manifests: ['Manifests', count],
  manifest_bytes: ['Bytes of manifests', bytes],
  metadata_log_entries: ['Old metadata files', count],
  skew_max_over_median: ['Largest partition / median', ratio],
  partitions_total: ['Partitions', count],
  partition_files_max: ['Data files of the largest partition', count],
  ratio: ['Duration / usual duration', ratio],
  ratio_low: ['Lower bound', ratio],
  ratio_high: ['Upper bound', ratio],
  seconds: ['Duration', seconds],
  usual_seconds: ['Usual duration', seconds],
  usual_gap_seconds: ['Usual time between runs', duration],
  last_run: ['End of the last run', instant],
  runs: ['Runs', count],
  reads: ['Stale reads', count],
  behind_seconds: ['Behind main, last read', duration],
  behind_commits: ['Commits behind main, last read', count],
  share: ['Share of scans', percent],
  scans: ['Scans of 7 days', count],
  opened_share: ['Files that these scans open, median', percent],
  names: ['Names', count],
  failed: ['Failed runs', count],
  null_share: ['Share of nulls', percent],
  usual_share: ['Usual share of nulls', percent],
  nulls: ['Nulls', count],
  values: ['Values', count],
  range_ratio: ['Range / usual range', ratio],
  distinct: ['Distinct values', count],
  usual_distinct: ['Usual distinct values', count],
  freed_bytes: ['Bytes that an expiry frees', bytes],
  ref_bytes: ['Bytes of the branch or tag alone', bytes],
  held_bytes: ['Bytes that only old snapshots need', bytes],
  live_bytes: ['Live bytes', bytes],
  retention_days: ['Retention, days', count],
  kept_days: ['Maximum age of the branch or tag, days', count],
  total_position_deletes: ['Rows in position deletes', count],
  total_records: ['Rows in data files', count],
  oldest_delete: ['Oldest delete file', instant],
  rewritten: ['Files rewritten', instant],
  cold_bytes: ['Bytes without a write', bytes],
  cold_share: ['Share of the table', percent],
  cold_partitions: ['Partitions without a write', count],
  days: ['Days', count],
  last_seen: ['Last read', instant],
  needed_until: ['Next read due by', instant],
  commits: ['Commits of a day', count],
  threshold_rows: ['Rows of a small commit', count],
  overlap_depth_max: ['Files that cover one value', count],
  tables: ['Tables', count],
  limit: ['Limit', count],
  p95_seconds: ['Duration of a request, 95th percentile', seconds],
  error_share: ['Share of failed requests', percent],
  lag_seconds: ['Lag', duration],
  columns: ['Changes to columns', count],
  changes: ['Schema changes', count],
  peak: ['Highest value', count],
  level: ['Level', count],
  p10: ['Level then, 10 %', count],
  p90: ['Level then, 90 %', count],
  p_cross: ['Probability', percent],
  p_cross_if_maintained: ['Probability with maintenance', percent],
  growth_per_day: ['Growth a day', count],
  crosses_from: ['Crosses from', instant],
  crosses_to: ['Crosses until', instant],
  as_of: ['Time of the forecast', instant],
  hours: ['Horizon', (value) => `${count(value)} h`],
  threshold: ['Threshold', count],
  threshold_seconds: ['Threshold', duration],
  threshold_share: ['Threshold', percent],
};
const TEXTS: Record<string, string> = {
  from: 'From',
  to: 'To',
  what: 'What',
  problem: 'Problem',
  lower: 'Lowest value',
  upper: 'Highest value',
  alert: 'Critical alert',
  snapshot: 'Snapshot that was read last',
  engine: 'Engine',
  pointers: 'Pointers',
  ref: 'Kind',
  reason: 'Why it needs it',
  feature: 'Feature',
  readable_from: 'Readable from version',
  job: 'Job',
  source: 'Source',
};

export interface EvidenceRow {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

/** Codes whose measure is a ratio. */
const RATIOS: ReadonlySet<Finding['code']> = new Set(['partition_skew', 'hot_partition', 'job_slower']);

/** Codes whose measure is a number of bytes. */
const BYTES: ReadonlySet<Finding['code']> = new Set(['metadata_large', 'held_bytes', 'write_mode_mismatch']);

/** Names of values with the unit of the metric that a forecast is about. */
const LEVELS: ReadonlySet<string> = new Set(['threshold', 'level', 'p10', 'p90', 'growth_per_day']);

/** Labels that depend on the code: the same name measures something else. */
function labelled(
  name: string,
  code: Finding['code'],
  subject: string | undefined,
): (typeof LABELS)[string] | undefined {
  const metric = code === 'at_risk' && LEVELS.has(name) ? metricNamed(subject) : null;
  if (LABELS[name] && metric !== null) return [LABELS[name][0], (value) => printLevel(metric, value)];
  if (LABELS[name] && ['threshold', 'peak'].includes(name) && BYTES.has(code))
    return [LABELS[name][0], bytes];
  if (LABELS[name] && ['threshold', 'peak'].includes(name) && RATIOS.has(code))
    return [LABELS[name][0], ratio];
  if (name === 'usual_seconds' && code === 'stale') return ['Usual time between commits', duration];
  if (name === 'changes' && code === 'history_gap') return ['Gaps', count];
  if (name === 'changes' && code === 'spec_changed') return ['Spec changes', count];
  return LABELS[name];
}

/** `debt_files` as a label of a name that is not known here: `Debt files`. */
const spelled = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');

/** All evidence with labels and units, in the order in which it is listed above; unknown names come last. */
export function evidenceRows({
  code,
  subject,
  evidence,
}: Pick<Finding, 'code' | 'evidence'> & Partial<Pick<Finding, 'subject'>>): EvidenceRow[] {
  const order = [...Object.keys(TEXTS), ...Object.keys(LABELS)];
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return Object.entries(evidence)
    .toSorted(([a], [b]) => place(a) - place(b))
    .map(([name, value]) => {
      const known = labelled(name, code, subject);
      if (name === 'driver') return { name, label: 'Cause', value: driverWord(String(value)) };
      if (typeof value === 'number' && known) return { name, label: known[0], value: known[1](value) };
      return { name, label: known?.[0] ?? TEXTS[name] ?? spelled(name), value: String(value) };
    })
    .filter(({ value }) => value !== '');
}
