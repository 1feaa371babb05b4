// What is known of an incident in sentences with the number in them. Says what was read, and what was not. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { bytes } from '#lib/format/bytes.ts';
import { count } from '#lib/format/count.ts';
import { duration } from '#lib/format/duration.ts';
import { clockSeconds, weekday } from '#lib/format/instant.ts';
import type { CommitEvent } from '#lib/api/lanes.ts';
import { onsetOf, type Suspect, type Suspects } from './suspects.ts';

type Incident = Schemas['Incident'];

const NAMES: Record<string, string> = { replace: 'compaction' };
const whatOf = (commit: CommitEvent) => NAMES[commit.operation ?? ''] ?? commit.operation ?? 'commit';
const files = (n: number, kind = '') => `${count(n)} ${kind}${n === 1 ? 'file' : 'files'}`;

/** `03:04:12`, with its day when that is not the onset's. */
export function moment(at: number, beside: number): string {
  return weekday(at) === weekday(beside) ? clockSeconds(at) : `${weekday(at)}, ${clockSeconds(at)}`;
}

/** `One append at 03:04:12 added 50,000 files of 0.9 MB.` */
export function suspectSentence({ commit }: Suspect, onset: number): string {
  const { added_data_files: added, added_delete_files: deletes, removed_data_files: removed } = commit;
  const size = added && commit.added_bytes !== null ? ` of ${bytes(commit.added_bytes / added)}` : '';
  const did = [
    ...(added ? [`added ${files(added)}${size}`] : []),
    ...(deletes ? [`${added ? '' : 'added '}${files(deletes, 'delete ')}`] : []),
    ...(removed ? [`removed ${files(removed)}`] : []),
  ];
  const last = did.pop();
  const all = did.length ? `${did.join(', ')} and ${last}` : (last ?? 'changed no file');
  return `One ${whatOf(commit)} at ${moment(commit.t, onset)} ${all}.`;
}

/** `78 s before the alert`; of a commit that came with it or just after it, that. */
export function leadText(leadS: number): string {
  if (Math.abs(leadS) < 1) return 'when the alert began';
  if (leadS < 0) return `${duration(Math.round(-leadS))} after the alert began`;
  return `${duration(Math.round(leadS))} before the alert`;
}

/** The headline when no single commit stands out. */
export function plainSentence(incident: Incident, found: Suspects): string {
  const onset = onsetOf(incident);
  const last = found.last ? `The last commit before the alert was at ${moment(found.last.t, onset)}` : '';
  if (found.readTo !== null)
    return `Commits just before the alert are not read yet: the table was read up to ${moment(found.readTo, onset)}.`;
  if (!found.before) return 'No commit to the table in the window before the alert.';
  if (found.measure === null)
    return `${last}, ${duration(Math.max(0, Math.round((onset - (found.last?.t ?? onset)) / 1000)))} earlier.`;
  const [top] = found.top;
  if (!top) return `${commits(found.before)} before the alert, none added ${found.measure}.`;
  return `No single commit stands out: ${commits(found.before)} before the alert, the largest with ${measured(top.weight, found.measure)}.`;
}

/** `1 data file`, `50,000 data files`. */
export const measured = (n: number, measure: string): string =>
  `${count(n)} ${n === 1 ? measure.replace(/s$/, '') : measure}`;

const commits = (n: number) => `${count(n)} ${n === 1 ? 'commit' : 'commits'}`;
