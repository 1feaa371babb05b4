// What contention says in words: who lost to whom and why, and how many attempts commits took. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { count } from '#lib/format/count.ts';

export type Contention = Schemas['Contention'];
export type Collision = Schemas['CollisionRow'];

/** On these pages, `not read` would be about the table. */
const UNKNOWN = 'unknown';
export const NOT_STATED = 'not stated';

const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** A number, or that no report states it. */
export const stated = (value: number | null): string => (value === null ? UNKNOWN : count(value));

/** `45`, `45 for 30 of them`: the attempts of the commits that state them. */
export function attemptWords({
  attempts,
  attempts_known: known,
  commits,
}: Schemas['WriterAttempts']): string {
  const partly = attempts !== null && known < commits;
  return partly ? `${count(attempts)} for ${count(known)} of them` : stated(attempts);
}

/** Whether any report is about a commit. */
export const isSilent = ({ writers }: Contention): boolean => writers.length === 0;

/** `42 commits succeeded in this range. They took 57 attempts. 3 commits were refused.` */
export function headline(found: Contention): string {
  const { reported, attempts, attempts_known: known, refused, failed } = found;
  const said = [
    `${plural(reported, 'reported commit')} succeeded in this range.`,
    attempts === null
      ? 'How many attempts they took was not reported.'
      : `${known < reported ? `${count(known)} of them` : reported === 1 ? 'It' : 'They'} took ${plural(attempts, 'attempt')}.`,
    refused === null
      ? 'Whether any was refused was not reported.'
      : refused === 0
        ? 'None was refused.'
        : `${plural(refused, 'commit')} ${refused === 1 ? 'was' : 'were'} refused.`,
    failed ? `${plural(failed, 'commit')} failed for another reason.` : '',
  ];
  return said.filter(Boolean).join(' ');
}

const OPERATIONS: Readonly<Record<string, string>> = { row_delta: 'row delta', schema: 'schema change' };
const kindWord = (kind: string | null): string => (kind === null ? '' : (OPERATIONS[kind] ?? kind));

/** `events (append, stream)`: a writer and what it did. */
export function writerWords(
  writer: string | null,
  kind: string | null,
  streaming: boolean | null,
  otherwise = 'a writer that is not stated',
): string {
  const about = [kindWord(kind), streaming ? 'stream' : ''].filter(Boolean).join(', ');
  return `${writer ?? otherwise}${about ? ` (${about})` : ''}`;
}

export const loserWords = (row: Collision): string =>
  writerWords(row.loser, row.loser_kind, row.loser_streaming);

export const winnerWords = (row: Collision): string =>
  row.winner === null && row.winner_kind === null
    ? 'a commit that is not known'
    : writerWords(row.winner, row.winner_kind, row.winner_streaming);

const REASONS: Readonly<Record<NonNullable<Collision['conflict_kind']>, string>> = {
  lost_race: 'it was faster at every attempt',
  files_added: 'it added files that the other had not read',
  files_removed: 'it removed files that the other needed',
  deletes_added: 'it deleted rows in the same files',
  schema_changed: 'it changed the schema or partition spec',
  ref_moved: 'it moved the branch',
  other: 'for a reason that is not known',
};

/** Why the loser lost; a retry only says that another commit came first. */
export const reasonWords = ({ conflict_kind: kind }: Collision): string =>
  kind === null ? 'it came first' : REASONS[kind];

/** `refused 3 times, retried once`. */
export function outcomeWords({ refused, retried }: Collision): string {
  const times = (n: number) => (n === 1 ? 'once' : `${count(n)} times`);
  const parts = [refused ? `refused ${times(refused)}` : '', retried ? `retried ${times(retried)}` : ''];
  return parts.filter(Boolean).join(', ');
}

/** Commits a minute, one digit after the point below ten. */
export const rate = (perMinute: number | null): string =>
  perMinute === null
    ? UNKNOWN
    : perMinute < 10 && !Number.isInteger(perMinute)
      ? perMinute.toFixed(1)
      : count(perMinute);
