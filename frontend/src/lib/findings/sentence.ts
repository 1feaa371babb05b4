// A finding in words: what is wrong, why, what it did, since when, and what to do. One composer for lists, pages and the
// summary. Times are in the reader's zone. Pure.
import { tablePath } from '#lib/api/names.ts';
import { eventQuery } from '#lib/api/table-link.ts';
import { percent } from '#lib/format/count.ts';
import { duration } from '#lib/format/duration.ts';
import { effectSentences } from './effect.ts';
import { Evidence } from './evidence.ts';
import { headlineOf } from './headline.ts';
import { atExactMoment, atMoment, moment } from './moment.ts';
import { warningCause } from './warning.ts';
import {
  causingCommit,
  closingCommit,
  endWord,
  isOpen,
  refOf,
  type Finding,
  type FindingCode,
} from './words.ts';

/** Sentences without a full stop. */
export interface FindingText {
  readonly headline: string;
  /** Null: no cause is known. */
  readonly cause: string | null;
  readonly effect: readonly string[];
  readonly state: string;
  readonly next: { readonly advice: string; readonly href: string | null };
}

export function sentenceOf(finding: Finding, now: number): FindingText {
  return {
    headline: headlineOf(finding, now),
    cause: causeSentence(finding, now),
    effect: effectSentences(finding, now),
    state: stateSentence(finding, now),
    next: { advice: ADVICE[finding.code], href: momentHref(finding, now) },
  };
}

/** What a writer added most of, by code. */
const BUILT_OF: Partial<Record<FindingCode, string>> = {
  small_files: 'data files',
  too_many_files: 'data files',
  compaction_stopped: 'data files',
  delete_files_growing: 'delete files',
  equality_deletes: 'delete files',
  snapshots_unbounded: 'commits',
  metadata_large: 'commits',
  manifests_fragmented: 'commits',
};

export function causeSentence(finding: Finding, now: number): string | null {
  const { cause, code, opened_at: at } = finding;
  if (code === 'at_risk') return warningCause(finding);
  if (!cause) return null;
  if (code === 'file_burst') return burstCause(finding, now);
  if (code === 'commit_contention' || code === 'stream_batch_conflict') return winnerCause(cause);
  const built = BUILT_OF[code];
  if (built && cause.share !== null) {
    const verb = built === 'commits' ? 'made' : 'added';
    const who = cause.writer ?? 'An unnamed writer';
    return `${who} ${verb} ${percent(cause.share)} of the ${built} since the last maintenance`;
  }
  const by = cause.writer ? ` of ${cause.writer}` : '';
  if (causingCommit(finding) === null) return cause.writer ? `Written by ${cause.writer}` : null;
  return finding.group === 'jobs'
    ? `The most likely cause is a commit${by}`
    : `It began with a commit${by} ${atMoment(at, now)}`;
}

/** `events committed first in 80 % of the collisions`. */
function winnerCause({ writer, share }: NonNullable<Finding['cause']>): string | null {
  if (writer === null) return null;
  return `${writer} committed first${share === null ? '' : ` in ${percent(share)} of the collisions`}`;
}

/** `demo_burst added 1,500 files, 2 kB on average, at 02:08:42 UTC`. */
function burstCause({ cause, evidence: values, opened_at: at }: Finding, now: number): string {
  const evidence = new Evidence(values);
  const commits = cause?.snapshot_ids.length ?? 0;
  const who = cause?.writer ?? (commits > 1 ? `${commits} commits` : 'One commit');
  const size = evidence.average('bytes', 'files');
  const average = size === null ? '' : `, ${size},`;
  const many = cause?.writer && commits > 1 ? ` in ${commits} commits` : '';
  const files = evidence.counted('files', 'file') ?? 'many small files';
  return `${who} added ${files}${average}${many} ${atExactMoment(at, now)}`;
}

/** An evaluation older than this is mentioned. */
const LATE_MS = 10 * 60_000;

export function stateSentence(finding: Finding, now: number): string {
  if (!isOpen(finding)) return endSentence(finding, now);
  const since = `Open for ${age(finding.opened_at, now)}, since ${moment(finding.opened_at, now)}`;
  return [since, ...stateNotes(finding, now)].join('; ');
}

/** What else is to be known of an open finding: how often it came back, and that its evaluation is old. */
export function stateNotes(finding: Finding, now: number): string[] {
  const { recurrences, evaluated_at: seen } = finding;
  if (!isOpen(finding)) return [];
  return [
    ...(recurrences > 0 ? [`${ordinal(recurrences + 1)} time in 30 days`] : []),
    ...(seen !== null && now - seen > LATE_MS
      ? [`last evaluated ${atMoment(seen, now)}, because its catalog does not respond`]
      : []),
  ];
}

/** `Recovered at 05:30 UTC by snapshot 5184430069070270604`. */
function endSentence(finding: Finding, now: number): string {
  const { closed_at: at, closed_by: by, group } = finding;
  const commit = closingCommit(finding);
  const word = endWord(finding);
  const when = at === null ? '' : ` ${atMoment(at, now)}`;
  const ender = commit
    ? ` by snapshot ${commit}`
    : word === 'Recovered' && group === 'jobs' && by
      ? by === 'run'
        ? ' with a run'
        : ` by run ${by}`
      : '';
  return `${word}${when}${ender}`;
}

/** `2 h 10 m`: seconds say nothing after ten minutes. */
export function age(since: number, now: number): string {
  const s = Math.max(0, now - since) / 1000;
  return duration(s < 600 ? Math.round(s) : Math.round(s / 60) * 60);
}

/** `2nd`, `3rd`, `11th`. */
export function ordinal(n: number): string {
  const teens = n % 100 >= 11 && n % 100 <= 13;
  return `${n}${teens ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')}`;
}

const COMPACT = 'Compact the data files';
const ADVICE: Record<FindingCode, string> = {
  unreadable: 'Check the catalog and the storage that hold the metadata',
  job_slower: 'Compare the commits before and after the job slowed down',
  job_silent: 'Check whether the job is still scheduled, and whether it reports its runs',
  job_failing: 'Read the log of the last failed run',
  objective_missed:
    'Check what delays the writer or the job or makes the table expensive, or change the objective',
  file_burst: 'Compact the new files, and check how the writer distributes its rows',
  small_files: COMPACT,
  too_many_files: `${COMPACT}, or archive partitions that are no longer read`,
  compaction_stopped: 'Check why compaction no longer runs',
  compaction_ineffective: 'Check the target file size and the filter of the compaction',
  delete_files_growing: 'Rewrite the data files that have deletes',
  equality_deletes: 'Rewrite the data files to apply the equality deletes',
  snapshots_unbounded: 'Expire old snapshots',
  metadata_large: 'Expire old snapshots to shorten the metadata',
  manifests_fragmented: 'Rewrite the manifests',
  metadata_versions_kept: 'Set write.metadata.delete-after-commit.enabled',
  partition_skew: 'Check whether the partitioning still fits the data',
  hot_partition: 'Check what wrote so much to this partition, and compact it',
  schema_breaking: 'Check the jobs that read the changed columns',
  schema_changed: 'Check whether readers expect the new columns',
  spec_changed: 'Check whether filters of readers match the new partitioning',
  null_share_jump: 'Check what the writer of the commit puts into the column',
  bounds_jump: 'Check the values that the commit wrote to the column',
  cardinality_jump: 'Check what feeds the column, and the queries that join or group by it',
  stale: 'Check whether the writer still runs',
  commit_contention: 'Let the writers commit at different times or less often, or to different partitions',
  stream_batch_conflict: 'Let the batch job write partitions that the stream has left, or retry it',
  history_gap: 'Keep snapshots longer than the time between two observations',
  stale_reader: 'Refresh the table in the engine that reads it, or shorten how long its catalog is cached',
  two_pointers: 'Stop writing through one of the names, then drop it from its catalog',
  filter_not_pruned: 'Sort or partition the table by the column, or rewrite it with a sort order',
  stream_lag: 'Check the source of the stream, and whether its batches take longer than its trigger',
  tiny_commits: 'Collect rows into larger commits, or keep them in a database and load from there',
  format_incompatible: 'Update the engine, or do not use the feature in this table',
  overlap: 'Rewrite the data files with the sort order of the table',
  write_mode_mismatch: 'Set the write mode of this operation to merge-on-read',
  catalog_near_limit: 'Move tables to another namespace, or drop the ones that are not used',
  held_bytes: 'Expire snapshots, or drop the branch or tag, after checking their readers',
  deletes_not_materialized: 'Rewrite the files that have deletes, then expire the snapshots before',
  high_cardinality_partitioning: 'Partition by bucket of the column instead, and rewrite the table',
  cold_data: 'Archive or drop the partitions, or move them to cheaper storage',
  reader_at_risk: 'Keep snapshots longer than the reader may lag, or let it read more often',
  at_risk: 'Run its maintenance before the threshold is reached, and check why it no longer runs in time',
};

/** The table's timeline around the opening, with the causing commit open; null where the table's name is not known. */
export function momentHref(finding: Finding, now: number): string | null {
  const ref = refOf(finding);
  return ref && `${tablePath(ref)}?${eventQuery(finding.opened_at, causingCommit(finding), now)}`;
}
