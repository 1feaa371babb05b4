// The verdict in words. A commit "coincides with" a change or is "most likely"; it "caused" one only after a person
// confirmed that. Pure.
import { headline } from '#lib/commit/headline.ts';
import { count, ratio, signed } from '#lib/format/count.ts';
import { duration, seconds } from '#lib/format/duration.ts';
import { clockSeconds, dayMonth } from '#lib/format/instant.ts';
import {
  isConfirmed,
  namedIn,
  type ChangeBounds,
  type Case,
  type Change,
  type Hypothesis,
  type Page,
} from './case.ts';
import { movedSignals } from './competing.ts';

/** The sentence that stands first. */
export function verdict(page: Page, first: Case | undefined): string {
  if (!first) return pendingWords(page) ?? page.explanation.verdict;
  const named = namedIn(first);
  if (!named) return nothingNamed(first);
  const what = `${commitWords(named)}${when(named)}`;
  if (isConfirmed(named.label)) return `Caused by ${what}.`;
  return `${first.confidence === 'strong' ? 'Most likely' : 'Possibly'}: ${what}.`;
}

/** `Not known yet: no run of churn started after the commit at 15:01:02 has succeeded.`; null: there are runs. */
export function pendingWords({ job, pending }: Page): string | null {
  if (!pending) return null;
  const { committed_at: at, running_since: running } = pending;
  const after = at === null ? 'in this range' : `after the commit at ${clockSeconds(at)}`;
  const goesOn = running === null ? '' : `; one started at ${clockSeconds(running)} is still running`;
  return `Not known yet: no run of ${job ?? 'the job'} started ${after} has succeeded${goesOn}.`;
}

/** `The last run started at 14:47:00, before 3 commits of this range.` */
export function lastRunWords({ pending, since }: Page): string | null {
  if (!pending) return null;
  const { last_run: last, commits } = pending;
  if (last === null) return `No runs known since ${dayMonth(since)} ${clockSeconds(since)}.`;
  const before =
    commits === 0 ? '' : `, before ${commits === 1 ? '1 commit' : `${count(commits)} commits`} in this range`;
  return `The last successful run started at ${dayMonth(last)} ${clockSeconds(last)}${before}.`;
}

function nothingNamed({ change, best, around }: Case): string {
  if (best.record.kind === 'infrastructure')
    return `No commit explains ${sizeOf(change)}: other jobs changed at the same time, so infrastructure is the likely explanation.`;
  if (best.record.kind === 'load')
    return `No commit explains ${sizeOf(change)}: the job's load changed at the same time and is the likely explanation.`;
  const moved = movedSignals(around).map(({ words }) => words);
  return `No commit explains ${sizeOf(change)}${moved.length ? `: ${moved.join('; ')}` : ''}.`;
}

/** `one append of 50,000 files of 0.9 MB`, as far as it is known. */
export function commitWords({ commit, record }: Hypothesis): string {
  if (!commit) return `commit ${record.commit_id ?? ''} of ${record.table ?? 'a table'}`;
  const words = headline(commit);
  return words.charAt(0).toLowerCase() + words.slice(1);
}

const when = ({ commit }: Hypothesis) => (commit ? ` at ${clockSeconds(commit.t)}` : '');

/** `the slowdown from 52 s to 160 s`. */
function sizeOf(change: Change): string {
  const way = change.effect_ratio >= 1 ? 'slowdown' : 'speed-up';
  return `the ${way} from ${seconds(change.before_seconds)} to ${seconds(change.after_seconds)}`;
}

/** What became of it: a later change that takes back at least half of it is its end. */
function lasting(page: Page, change: Change): string {
  if (change.kind === 'ramp') return 'built up over hours';
  if (change.kind === 'pulse') return 'was temporary';
  const size = Math.log(change.effect_ratio);
  const end = page.explanation.changes.find(
    ({ onset, effect_ratio }) => onset > change.onset && Math.log(effect_ratio) / size < -0.5,
  );
  return end ? `lasted until ${clockSeconds(end.onset)}` : 'persists';
}

/** `churn went from 52 s to 160 s (3.1×) at 03:05:00; it lasted until 05:35:00.`, of a pulse `… at 03:05:00 for 4 runs; …` */
export function effectWords(page: Page, change: Change): string {
  const size = change.effect_ratio >= 1 ? change.effect_ratio : 1 / change.effect_ratio;
  const way = change.effect_ratio >= 1 ? ratio(size) : `${ratio(size)} faster`;
  const levels = `from ${seconds(change.before_seconds)} to ${seconds(change.after_seconds)} (${way})`;
  const onset = `${clockSeconds(change.onset)}${runsOf(change)}`;
  return `${page.job ?? 'The job'} went ${levels} at ${onset}; it ${lasting(page, change)}.`;
}

/** ` for 4 runs`. Only of a pulse: one that lasts is over with the last known run, which says nothing of it. */
function runsOf({ kind, runs }: Change): string {
  if (kind !== 'pulse') return '';
  return runs === 1 ? ' for 1 run' : ` for ${count(runs)} runs`;
}

/** `+107 s (95 %: +105 to +109 s)`; why there are no bounds, where there are none. Other jobs and load are taken out of
 *  the bounds, so that the change itself may lie outside. */
export function boundsWords(
  change: Change,
  { low_seconds, high_seconds, unbounded_because }: ChangeBounds,
): string {
  const size = signed(change.effect_seconds, seconds);
  if (low_seconds !== null && high_seconds !== null) {
    const bounds = `${signed(low_seconds, count)} to ${signed(high_seconds, seconds)}`;
    const inside = low_seconds <= change.effect_seconds && change.effect_seconds <= high_seconds;
    return inside ? `${size} (95 %: ${bounds})` : `${size}, ${bounds} without other jobs and load (95 %)`;
  }
  return `${size}, without bounds${unbounded_because === null ? '' : `: ${unbounded_because}`}`;
}

/** `coincides with` until a person confirmed it. */
export const linkWords = ({ label }: Hypothesis): string =>
  isConfirmed(label) ? 'caused it' : 'coincides with it';

const RIVALS = {
  infrastructure: ['Infrastructure', 'CPU, executors, disks or network: other jobs slowed down too'],
  load: ['Load', 'the job had more to do'],
  none: ['No known explanation', 'no commit to the tables it reads, no other job, no load'],
} as const;

/** Name and meaning of an explanation that is no commit. */
export function rivalWords({ record }: Hypothesis): readonly [name: string, meaning: string] {
  return record.kind === 'commit' ? ['Commit', ''] : RIVALS[record.kind];
}

const GRADES = {
  exact: ['exact', 'The first run that read this commit is known.'],
  declared: ['declared', 'The job reads this table; the first run on this commit is unknown.'],
  temporal: ['temporal', 'Linked by time only: the job is not known to read this table.'],
} as const;

/** What links a commit to the job, as a word and a sentence. */
export const gradeWords = ({ record }: Hypothesis): readonly [word: string, meaning: string] | null =>
  record.grade ? GRADES[record.grade] : null;

/** `48 s before`: how long the commit lay before the change. */
export const leadWords = ({ record }: Hypothesis): string =>
  record.lag_seconds === null || record.lag_seconds === undefined
    ? 'lead unknown'
    : `${duration(record.lag_seconds)} before`;

/** Past commits of the same kind and what followed; null where nothing is known of any. */
export function pastWords({ record, commit }: Hypothesis): string | null {
  const { similar } = record;
  if (!similar) return null;
  const kind = `${commit?.operation ?? 'commit'}s by the same writer`;
  const people = saidWords(similar.confirmed ?? 0, similar.rejected ?? 0);
  if (similar.commits === 0) return `No other ${kind} in the days before.${people}`;
  const followed =
    similar.followed === 0 ? 'none was' : similar.followed === 1 ? 'one was' : `${similar.followed} were`;
  return `${similar.commits} other ${kind} in the days before: ${followed} followed by a change in this job.${people}`;
}

/** How often people said that an earlier one did it, and that it did not. */
function saidWords(confirmed: number, rejected: number): string {
  if (confirmed + rejected === 0) return '';
  return ` Earlier labels: ${confirmed} confirmed, ${rejected} ruled out.`;
}

/** Who said what, and when. */
export function labelWords({ label }: Hypothesis): string | null {
  if (!label) return null;
  const said = {
    confirmed: 'Confirmed',
    expected: 'Expected',
    rejected: 'Ruled out',
    withdrawn: 'Withdrawn',
  };
  const who = label.author ? ` by ${label.author}` : '';
  return `${said[label.kind]}${who}, ${dayMonth(label.t)} ${clockSeconds(label.t)}`;
}
