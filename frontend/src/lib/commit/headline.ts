// A commit in one sentence, with the number that matters in it. Pure; says only what was read.
import type { Schemas } from '#lib/api/client.ts';
import { bytes } from '#lib/format/bytes.ts';
import { count, ratio } from '#lib/format/count.ts';
import { clockSeconds } from '#lib/format/instant.ts';

type Commit = Schemas['CommitRow'];

const files = (n: number, kind = '') => `${count(n)} ${kind}${n === 1 ? 'file' : 'files'}`;

/** `50,000 files of 0.9 MB in one append`. */
export function headline(commit: Commit): string {
  const { operation } = commit;
  const added = commit.added_data_files ?? 0;
  const removed = commit.removed_data_files ?? 0;
  const deletes = commit.added_delete_files ?? 0;
  const what = operation === 'replace' ? 'compaction' : (operation ?? 'commit');
  if (operation === 'replace' && added && removed)
    return `${files(removed)} became ${count(added)} in one ${what}`;
  const parts: string[] = [];
  if (added) parts.push(files(added) + averageSize(commit));
  if (deletes) parts.push(files(deletes, 'delete '));
  if (removed) parts.push(`${files(removed)} removed`);
  if (parts.length) return `${parts.join(', ')} in one ${what}`;
  if (commit.added_data_files === null && commit.removed_data_files === null)
    return `${article(what)}; file counts not read`;
  return `${article(what)} that changed no files`;
}

function averageSize({ added_bytes: size, added_data_files: number }: Commit): string {
  return size === null || !number ? '' : ` of ${bytes(size / number)}`;
}

const article = (word: string) => `${/^[aeiou]/.test(word) ? 'An' : 'A'} ${word}`;

/** What a commit is until the pipeline has recorded it. */
export const PROVISIONAL = 'Seen by the server, not yet recorded by the pipeline';

type RunEffect = Schemas['RunEffect'];
/** The job that takes longer since the commit, of several the one that slowed most. */
export const mostSlowed = (effects: readonly RunEffect[]): RunEffect | undefined =>
  effects
    .filter(({ verdict, ratio }) => verdict === 'worse' && ratio !== null)
    .toSorted((a, b) => (b.ratio ?? 0) - (a.ratio ?? 0))[0];

/** `Slowed rollup_customer_events 3.0×`. */
export const slowedText = ({ job, ratio: times }: RunEffect): string => `Slowed ${job} ${ratio(times)}`;

/** Of a job without a run after the commit: nothing is known yet, and when it last ran; null: there are runs. */
export function noRunYet({ job, runs_after: after, last_run: last }: Schemas['RunEffect']): string | null {
  if (after > 0) return null;
  const when = last === null ? '' : `; the last one before started at ${clockSeconds(last)}`;
  return `${job}: not known yet, no run started after the commit has ended${when}`;
}

/** Of a commit around which no run is known. */
export const NO_RUN_AROUND =
  'No run of a linked job within 6 h of the commit: its effect on jobs is unknown.';
