// Which commits before an alert stand out, by what the alert is about. It compares sizes and times and claims no cause:
// that is what the explanation is for. Pure.
import type { Schemas } from '#lib/api/client.ts';
import type { CommitEvent } from '#lib/api/lanes.ts';

type Incident = Schemas['Incident'];
/** What a commit is weighed by; null: the alert is about the lack of commits, or about no commit. */
export type Measure = 'data files' | 'delete files' | null;

export interface Suspect {
  readonly commit: CommitEvent;
  /** How much it changed, in the measure. */
  readonly weight: number;
  /** Seconds from the commit to the alert's onset. */
  readonly leadS: number;
}

export interface Suspects {
  readonly measure: Measure;
  /** Commits of main before the onset, within the window. */
  readonly before: number;
  /** Those that changed most, at most three, heaviest first. */
  readonly top: readonly Suspect[];
  /** The heaviest, when it is far from all the others. */
  readonly outstanding: Suspect | null;
  /** The newest commit before the onset: of a table that went stale, its last sign of life. */
  readonly last: CommitEvent | null;
  /** The lake is read only up to here, which is before the onset; null: all of it is. */
  readonly readTo: number | null;
}

const LISTED = 3;
/** Clocks of writers and of Prometheus differ, and a scrape comes late, never early. */
const SKEW_MS = 60_000;
/** So many times the median of the others, and so many files at least, is no ordinary commit. */
const FAR = 5;
const LEAST_FILES = 10;
const NO_COMMIT =
  /stale|freshness|last_commit|lag|contention|conflict|down\b|stalled|waiting|unreachable|snapshots?_?(too|many)/i;
const DELETES = /delete/i;

/** What an alert is about, from its name and its expression. */
export function measureOf({ alert, expression }: Pick<Incident, 'alert' | 'expression'>): Measure {
  const name = alert.alert_name ?? '';
  if (NO_COMMIT.test(name)) return null;
  return DELETES.test(name) || (!/file/i.test(name) && DELETES.test(expression ?? ''))
    ? 'delete files'
    : 'data files';
}

/** When it began: when the expression became true, else when it fired. */
export const onsetOf = ({ active_at, alert }: Pick<Incident, 'active_at' | 'alert'>): number =>
  active_at ?? alert.starts_at;

function weightOf(commit: CommitEvent, measure: Measure): number {
  if (measure === 'delete files') return commit.added_delete_files ?? 0;
  // what a compaction rewrites is no growth
  if (commit.operation === 'replace') return 0;
  return Math.max(commit.added_data_files ?? 0, commit.removed_data_files ?? 0);
}

/** `watermark`: up to when the lake is known. */
export function suspectsOf(
  incident: Incident,
  commits: readonly CommitEvent[],
  watermark: number | null = null,
): Suspects {
  const [measure, onset] = [measureOf(incident), onsetOf(incident)];
  const before = commits.filter(
    ({ t, on_main }) => on_main && t >= incident.window.from && t <= onset + SKEW_MS,
  );
  const weighed = before
    .map((commit) => ({ commit, weight: weightOf(commit, measure), leadS: (onset - commit.t) / 1000 }))
    // of equals the one before the onset, then the nearest to it
    .sort(
      (a, b) => b.weight - a.weight || Number(a.leadS < 0) - Number(b.leadS < 0) || b.commit.t - a.commit.t,
    );
  const top = measure === null ? [] : weighed.filter(({ weight }) => weight > 0).slice(0, LISTED);
  const [first, ...others] = weighed;
  const usual = others.length ? (others[Math.floor(others.length / 2)]?.weight ?? 0) : 0;
  const far = first !== undefined && first.weight >= Math.max(LEAST_FILES, FAR * usual);
  return {
    measure,
    before: before.length,
    top,
    outstanding: far && top.length ? first : null,
    last: before.reduce<CommitEvent | null>((last, each) => (last && last.t > each.t ? last : each), null),
    readTo: watermark !== null && watermark < onset ? watermark : null,
  };
}
