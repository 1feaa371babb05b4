// The evidence of a finding: numbers and texts by name, any of which may be missing, and their labels and units. Pure.
import { bytes } from '#lib/format/bytes.ts';
import { count, percent, ratio } from '#lib/format/count.ts';
import { duration, seconds } from '#lib/format/duration.ts';
import { instant } from '#lib/format/instant.ts';
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
  columns: ['Changes to columns', count],
  changes: ['Schema changes', count],
  peak: ['Highest value', count],
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
};

export interface EvidenceRow {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

/** Codes whose measure is a ratio. */
const RATIOS: ReadonlySet<Finding['code']> = new Set(['partition_skew', 'hot_partition', 'job_slower']);

/** Labels that depend on the code: the same name measures something else. */
function labelled(name: string, code: Finding['code']): (typeof LABELS)[string] | undefined {
  if (name === 'threshold' && code === 'metadata_large') return ['Threshold', bytes];
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
export function evidenceRows({ code, evidence }: Pick<Finding, 'code' | 'evidence'>): EvidenceRow[] {
  const order = [...Object.keys(TEXTS), ...Object.keys(LABELS)];
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return Object.entries(evidence)
    .toSorted(([a], [b]) => place(a) - place(b))
    .map(([name, value]) => {
      const known = labelled(name, code);
      if (typeof value === 'number' && known) return { name, label: known[0], value: known[1](value) };
      return { name, label: known?.[0] ?? TEXTS[name] ?? spelled(name), value: String(value) };
    })
    .filter(({ value }) => value !== '');
}
