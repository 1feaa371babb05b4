// What notes are about and how they are told. Text is plain text: pages show it as text, the summary escapes it. Pure.
import type { NoteBody, Schemas } from '#lib/api/client.ts';
import { findingPath, commitPath, type TableRef } from '#lib/api/names.ts';
import { instant, spanZoned } from '#lib/format/instant.ts';
import { markdownText } from '#lib/format/markdown.ts';

export type Note = Schemas['TeamNote'];
/** What a new note is about, as the server takes it. */
export type NoteTarget = Pick<NoteBody, 'scope' | 'target_id' | 'table' | 'from' | 'to' | 'starts_at'>;

export const LONGEST_TEXT = 4_000;
export const LONGEST_NAME = 100;

/** `Ada, 21 Nov 2026, 03:20 UTC, edited`. */
export function byline({ author, at, edits }: Note): string {
  return [author, instant(at), ...(edits > 0 ? ['edited'] : [])].join(', ');
}

/** The table of a note; null where its name is not known. */
function refOf({ catalog, namespace, table }: Note): TableRef | null {
  return catalog && namespace && table ? { catalog, namespace, table } : null;
}

/** What a note is about, with the way there; null: the table itself. */
export function subjectOf(note: Note): { text: string; href: string | null } | null {
  const ref = refOf(note);
  switch (note.scope) {
    case 'finding':
      return { text: 'a finding', href: findingPath(note.target_id) };
    case 'commit':
      return { text: `commit ${note.target_id}`, href: ref && commitPath(ref, note.target_id) };
    case 'alert':
      return { text: 'an alert', href: `/alerts/${encodeURIComponent(note.target_id)}${startOf(note)}` };
    case 'range':
      return {
        text: note.from !== null && note.to !== null ? spanZoned(note.from, note.to) : 'a range',
        href: null,
      };
    case 'table':
      return null;
  }
}

const startOf = ({ from }: Note): string => (from === null ? '' : `?starts_at=${from}`);

/** Notes for Markdown, one a line: nothing in them becomes markup, a link or a mention. */
export const noteLines = (notes: readonly Note[]): string[] =>
  notes
    .filter(({ kind, text }) => kind === 'note' && text)
    .map((note) => `- Note by ${markdownText(byline(note))}: ${markdownText(note.text)}`);

/** Times of an acknowledgement that are offered: hours from now. */
export const ACK_HOURS = [
  { hours: 1, label: '1 hour' },
  { hours: 4, label: '4 hours' },
  { hours: 24, label: '1 day' },
  { hours: 7 * 24, label: '7 days' },
] as const;

/** A key of a new note, unique among those of its author: a request that is repeated stays one note. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
