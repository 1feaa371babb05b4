// What is wrong, in one sentence per code. A part whose evidence is missing is left out; a closed finding is in the past.
import { bytes } from '#lib/format/bytes.ts';
import { count, percent, ratio } from '#lib/format/count.ts';
import { duration, seconds } from '#lib/format/duration.ts';
import { Evidence } from './evidence.ts';
import { moment } from './moment.ts';
import { STORAGE_HEADLINES } from './storage-headlines.ts';
import { isOpen, type Finding, type FindingCode } from './words.ts';

export interface Facts {
  readonly finding: Finding;
  readonly evidence: Evidence;
  /** While it is open, the present; else the past. */
  readonly tense: (present: string, past: string) => string;
  readonly now: number;
}

/** Without a full stop. `now`: epoch ms. */
export function headlineOf(finding: Finding, now: number): string {
  const open = isOpen(finding);
  const tense = (present: string, past: string) => (open ? present : past);
  return HEADLINES[finding.code]({ finding, evidence: new Evidence(finding.evidence), tense, now });
}

const HEADLINES: Record<FindingCode, (facts: Facts) => string> = {
  unreadable: ({ evidence, tense }) =>
    `The table's metadata ${tense('cannot', 'could not')} be read${after(': ', evidence.text('what') ?? evidence.text('problem'))}`,
  job_slower: slowerJob,
  job_silent: silentJob,
  job_failing: failingJob,
  objective_missed: missedObjective,
  file_burst: fileBurst,
  small_files: (facts) => behind(facts, `The table ${facts.tense('has', 'had')} many small files`),
  too_many_files: ({ evidence, tense }) => {
    const largest = largestPartition(evidence);
    if (largest !== null) return `One partition ${tense('has', 'had')} ${largest}`;
    const files = evidence.counted('total_data_files', 'data file');
    const size = evidence.average('total_bytes', 'total_data_files');
    if (files === null) return `The table ${tense('has', 'had')} too many data files`;
    return `The table ${tense('has', 'had')} ${files}${after(', ', size)}`;
  },
  compaction_stopped: (facts) => {
    const debt = behindWords(facts.evidence);
    const stopped = `Compaction ${facts.tense('has', 'had')} stopped`;
    return `${stopped}${after('; it is ', facts.tense(debt ?? '', ''))}`;
  },
  compaction_ineffective: ({ evidence, tense }) => {
    const left = outOf(evidence, 'debt_files', 'total_data_files', 'data file');
    const runs = `Compaction ${tense('runs', 'ran')} without effect`;
    return `${runs}${after(': ', left === null ? null : `${left} still ${tense('need', 'needed')} it`)}`;
  },
  delete_files_growing: ({ evidence, tense }) => {
    const deletes = evidence.counted('total_delete_files', 'delete file');
    const data = evidence.counted('total_data_files', 'data file');
    const now = deletes === null ? null : `${deletes}${after(' for ', data)}`;
    return `Delete files ${tense('accumulate', 'accumulated')} without being merged${after(': ', now)}`;
  },
  equality_deletes: ({ evidence, tense }) => {
    const rows = evidence.counted('total_equality_deletes', 'row');
    const have = tense('has', 'had');
    return rows === null
      ? `The table ${have} live equality deletes`
      : `The table ${have} live equality deletes of ${rows}`;
  },
  snapshots_unbounded: ({ evidence, tense }) => {
    const kept = evidence.counted('live_snapshots', 'snapshot') ?? 'many snapshots';
    return `The table ${tense('keeps', 'kept')} ${kept}, some beyond their maximum age`;
  },
  metadata_large: ({ evidence, tense }) => {
    const size = evidence.number('metadata_bytes');
    const listed = evidence.counted('live_snapshots', 'snapshot');
    const is = tense('is', 'was');
    const lists = listed === null ? null : `and ${tense('lists', 'listed')} ${listed}`;
    return size === null
      ? `The table's metadata ${is} large${after(' ', lists)}`
      : `The metadata file ${is} ${bytes(size)} large${after(' ', lists)}`;
  },
  manifests_fragmented: ({ evidence, tense }) => {
    const number = evidence.counted('manifests', 'manifest');
    const size = evidence.average('manifest_bytes', 'manifests');
    if (number === null) return `The table ${tense('has', 'had')} many small manifests`;
    return `The table ${tense('has', 'had')} ${number}${after(', ', size)}`;
  },
  metadata_versions_kept: ({ evidence, tense }) => {
    const files = evidence.counted('metadata_log_entries', 'old metadata file') ?? 'many old metadata files';
    return `The table ${tense('keeps', 'kept')} ${files}`;
  },
  partition_skew: ({ evidence, tense }) => {
    const [skew, partitions] = [
      evidence.number('skew_max_over_median'),
      evidence.counted('partitions_total', 'partition'),
    ];
    const is = tense('is', 'was');
    const largest = partitions === null ? 'The largest partition' : `The largest of ${partitions}`;
    return skew === null
      ? `${largest} ${is} much larger than the others`
      : `${largest} ${is} ${ratio(skew)} as large as the median`;
  },
  hot_partition: ({ finding, evidence, tense }) => {
    const times = evidence.number('peak');
    const large = times === null ? 'much larger than' : `${ratio(times)} as large as`;
    return `Partition ${finding.subject} ${tense('is', 'was')} ${large} such partitions usually are`;
  },
  schema_breaking: ({ evidence }) =>
    `A schema change can break readers${after(': ', evidence.text('what') ?? versions(evidence, 'schema'))}`,
  schema_changed: ({ evidence }) =>
    `The schema changed${after(': ', evidence.text('what') ?? versions(evidence, 'schema'))}`,
  spec_changed: ({ evidence }) => `The partition spec changed${after(': ', versions(evidence, 'spec'))}`,
  null_share_jump: ({ finding, evidence, tense }) => {
    const [share, usual] = [evidence.number('null_share'), evidence.number('usual_share')];
    if (share === null || usual === null)
      return `The share of nulls${after(' in ', finding.subject)} changed`;
    return `${percent(share)} of ${finding.subject} ${tense('are', 'were')} null, usually ${percent(usual)}`;
  },
  bounds_jump: ({ finding, evidence }) => {
    const name = finding.subject || 'A column';
    if (evidence.number('future')) return `${name} has values in the future`;
    const times = evidence.number('range_ratio');
    return `Values of ${finding.subject || 'a column'} span ${times === null ? 'far more than' : ratio(times)} the usual range`;
  },
  cardinality_jump: ({ finding, evidence, tense }) => {
    const [distinct, usual] = [evidence.number('distinct'), evidence.number('usual_distinct')];
    if (distinct === null || usual === null)
      return `The number of distinct values${after(' of ', finding.subject)} changed`;
    return `${finding.subject} ${tense('has', 'had')} ${count(distinct)} distinct values, usually ${count(usual)}`;
  },
  stale: staleTable,
  stale_reader: staleReader,
  two_pointers: ({ finding, evidence, tense }) => {
    const other = finding.subject || 'Another name';
    const registers = `${other} ${tense('registers', 'registered')} the same table`;
    const point = `${registers} and ${tense('points', 'pointed')} at another snapshot`;
    return `${point}${after(': ', evidence.text('pointers'))}`;
  },
  filter_not_pruned: unpruned,
  commit_contention: contention,
  stream_batch_conflict: ({ evidence }) =>
    `${evidence.counted('conflicts', 'commit') ?? 'Several commits'} of a stream and a batch job met and were refused${pair(evidence)}`,
  history_gap: ({ evidence }) => {
    const [from, to] = [evidence.text('from'), evidence.text('to')];
    if (from !== null && to !== null) return `Commits between ${from} and ${to} are not known`;
    return to === null ? 'Some commits are not known' : `Some commits before ${to} are not known`;
  },
  ...STORAGE_HEADLINES,
};

/** `: merge lost to events (a stream)`: both writers, as far as they are known. */
function pair(evidence: Evidence): string {
  const [loser, winner, stream] = ['loser', 'winner', 'stream'].map((name) => evidence.text(name));
  if (!loser && !winner) return '';
  const named = (writer: string | null | undefined, otherwise: string) =>
    `${writer ?? otherwise}${writer && writer === stream ? ' (a stream)' : ''}`;
  return `: ${named(loser, 'a writer')} lost to ${named(winner, 'another writer')}`;
}

function contention({ evidence, tense }: Facts): string {
  const lost = evidence.number('lost');
  const attempts = evidence.counted('attempts', 'attempt');
  const said =
    lost === null || attempts === null
      ? `Commits ${tense('get', 'got')} in each other's way`
      : `${count(lost)} of ${attempts} to commit ${lost === 1 ? 'was' : 'were'} in vain`;
  return `${said}${pair(evidence)}`;
}

/** `text` after `joint`; nothing for what is unknown. */
const after = (joint: string, text: string | null): string => (text ? `${joint}${text}` : '');

const versions = (evidence: Evidence, what: string): string | null => {
  const [from, to] = [evidence.text('from'), evidence.text('to')];
  return from === null || to === null ? null : `${what} ${from} → ${to}`;
};

/** `1,520 of 1,620 data files`. */
function outOf(evidence: Evidence, part: string, whole: string, one: string): string | null {
  const [some, all] = [evidence.number(part), evidence.counted(whole, one)];
  if (some === null) return null;
  return all === null ? evidence.counted(part, one) : `${count(some)} of ${all}`;
}

/** `1,499 files behind`: what compaction would save. */
function behindWords(evidence: Evidence): string | null {
  const saved = evidence.counted('debt_saved_files', 'file');
  return saved === null ? null : `${saved} behind`;
}

function behind({ evidence, tense }: Facts, plain: string): string {
  const debt = behindWords(evidence);
  const rewritten = outOf(evidence, 'debt_files', 'total_data_files', 'data file');
  const would = rewritten === null ? null : `it would rewrite ${rewritten}`;
  if (debt !== null) return `Compaction ${tense('is', 'was')} ${debt}${after(': ', would)}`;
  if (rewritten !== null) return `Compaction would rewrite ${rewritten}`;
  const peak = evidence.counted('peak', 'file');
  return peak === null ? plain : `Compaction was up to ${peak} behind`;
}

/** `12,000 data files`, if it is a partition that has too many; else null. */
function largestPartition(evidence: Evidence): string | null {
  const [largest, limit] = [evidence.number('partition_files_max'), evidence.number('threshold')];
  const total = evidence.number('total_data_files');
  if (largest === null || limit === null || largest <= limit) return null;
  return total !== null && largest > total ? null : evidence.counted('partition_files_max', 'data file');
}

function missedObjective({ finding, evidence, tense }: Facts): string {
  const limit = evidence.number('threshold_seconds');
  const objective = limit === null ? 'its objective' : `its objective of ${duration(limit)}`;
  if (finding.subject === 'queries') {
    const now = evidence.number('seconds');
    const above = `The 95th percentile of query times ${tense('is', 'was')} above ${objective}`;
    return now === null || finding.state === 'closed' ? above : `${above}: now ${duration(now)}`;
  }
  if (finding.subject === 'event_to_queryable') {
    const now = evidence.number('seconds');
    const late = `Events ${tense('become', 'became')} queryable later than ${objective}`;
    return now === null || finding.state === 'closed' ? late : `${late}: now ${duration(now)}`;
  }
  if (finding.subject === 'cost_per_gb_month') return tooDear(evidence, tense);
  if (finding.subject === '') return `The last commit ${tense('is', 'was')} older than ${objective}`;
  return `${finding.subject} ${tense('takes', 'took')} longer than ${objective}`;
}

function tooDear(evidence: Evidence, tense: Facts['tense']): string {
  const [cost, limit] = [evidence.number('cost'), evidence.number('threshold')];
  const costs = tense('costs', 'cost');
  if (cost === null || limit === null) return `A live GB ${costs} more a month than its objective`;
  const currency = evidence.text('currency') ?? '';
  const said = (amount: number) => amount.toFixed(limit < 0.1 ? 3 : 2);
  return `A live GB ${costs} ${said(cost)} ${currency} a month, above its objective of ${said(limit)}`;
}

function fileBurst({ evidence, tense }: Facts): string {
  const [files, before, removed] = ['files', 'files_before', 'removed_files'].map((name) =>
    evidence.number(name),
  ) as (number | null)[];
  if (files == null) return 'Many small files were added at once';
  const grew =
    before == null
      ? `${count(files)} small files were added at once`
      : `Data files rose from ${count(before)} to ${count(before + files)} at once`;
  const left = removed == null ? null : Math.max(0, files - removed);
  const remain =
    !left || left === files ? null : `${count(left)} of the new ones ${tense('remain', 'remained')}`;
  return `${grew}${after('; ', remain)}`;
}

function slowerJob({ finding, evidence, tense }: Facts): string {
  const [took, usual] = [evidence.number('seconds'), evidence.number('usual_seconds')];
  const times = evidence.number('ratio');
  const takes = tense('takes', 'took');
  const job = finding.subject || 'A job';
  if (times === null && took !== null && usual !== null)
    return `${job} ${takes} ${seconds(took)} instead of ${seconds(usual)}`;
  if (times === null) return `${job} ${tense('is', 'was')} slower than usual`;
  const bounds = boundsWords(evidence.number('ratio_low'), evidence.number('ratio_high'));
  const lasts =
    took === null ? null : `${seconds(took)}${after(' instead of ', usual === null ? null : seconds(usual))}`;
  return `${job} ${takes} ${ratio(times)} as long as usual${after(' ', bounds)}${after(', ', lasts)}`;
}

function silentJob({ finding, evidence, tense, now }: Facts): string {
  const job = finding.subject || 'a job';
  const last = evidence.number('last_run');
  const gap = evidence.number('usual_gap_seconds');
  const usually = gap === null ? null : `it usually ${tense('runs', 'ran')} every ${duration(gap)}`;
  const ended = `No run of ${job} ${tense('has ended', 'ended')}`;
  if (last === null) return `${ended} for a long time${after('; ', usually)}`;
  const closed = finding.closed_at;
  const span =
    closed === null
      ? `since ${moment(last, now)}`
      : `for ${duration(Math.round(Math.max(0, closed - last) / 60_000) * 60)}`;
  return `${ended} ${span}${after('; ', usually)}`;
}

function failingJob({ finding, evidence, tense }: Facts): string {
  const job = finding.subject || 'a job';
  const failed = evidence.number('failed');
  const runs = evidence.number('runs');
  if (failed === null) return `Runs of ${job} ${tense('fail', 'failed')}`;
  if (runs === null) return `${count(failed)} ${failed === 1 ? 'run' : 'runs'} of ${job} failed`;
  return `${count(failed)} of the last ${count(runs)} runs of ${job} failed`;
}

function staleReader({ finding, evidence, tense }: Facts): string {
  const late = evidence.number('behind_seconds');
  const behind = evidence.counted('behind_commits', 'commit');
  const before = late === null ? 'long before' : `${duration(late)} before`;
  const reads = `${finding.subject || 'A reader'} ${tense('reads', 'read')} snapshots that main had left ${before}`;
  return `${reads}${after(', ', behind === null ? null : `${behind} ago`)}`;
}

function unpruned({ finding, evidence, tense }: Facts): string {
  const share = evidence.number('share');
  const opened = evidence.number('opened_share');
  const column = finding.subject || 'a column';
  const who = share === null ? 'Most scans' : `${percent(share)} of scans`;
  const filter = `${who} ${tense('filter', 'filtered')} ${column}, which neither partitions nor sorts the table`;
  const half = opened === null ? null : `they ${tense('open', 'opened')} ${percent(opened)} of its files`;
  return `${filter}${after('; ', half)}`;
}

function staleTable({ finding, evidence, tense, now }: Facts): string {
  const usual = evidence.number('usual_seconds');
  const usually =
    usual === null ? null : `the table usually ${tense('gets', 'got')} one every ${duration(usual)}`;
  const { opened_at: last, closed_at: closed } = finding;
  const span =
    closed === null
      ? `since ${moment(last, now)}`
      : `for ${duration(Math.round(Math.max(0, closed - last) / 60_000) * 60)}`;
  return `No commit ${tense('has arrived', 'arrived')} ${span}${after('; ', usually)}`;
}

/** `(2.6 to 3.7)`, `(at least 2.6)`; null where both bounds are missing. */
export function boundsWords(low: number | null, high: number | null): string | null {
  const text = (value: number) => ratio(value).replace('×', '');
  if (low !== null && high !== null) return `(${text(low)} to ${text(high)})`;
  if (low !== null) return `(at least ${text(low)})`;
  return high === null ? null : `(at most ${text(high)})`;
}
