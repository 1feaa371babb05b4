// What the schema page says of a table's versions, and the matrix as cells. Draws nothing.
import type { Schemas } from '#lib/api/client.ts';

export type Version = Schemas['StructureVersion'];
type Risk = Version['risk'];

interface Look {
  icon: 'crit' | 'warn' | 'ok';
  tone: 'crit' | 'warn' | 'ok';
  word: string;
}
const RISKS: Record<Risk, Look> = {
  breaking: { icon: 'crit', tone: 'crit', word: 'Breaking for readers' },
  check: { icon: 'warn', tone: 'warn', word: 'Check readers' },
  safe: { icon: 'ok', tone: 'ok', word: 'Safe for readers' },
};
export const riskOf = (risk: Risk): Look => RISKS[risk];

const LETTERS = { schema: 's', spec: 'p', sort_order: 'o' } as const;
const KINDS = { schema: 'Schema', spec: 'Partition spec', sort_order: 'Sort order' } as const;
export const kindName = (kind: Version['kind']): string => KINDS[kind];

/** `s13`, `p2`, `o1`: as the timeline's lane writes them. */
export const shortId = (kind: Version['kind'], id: string | null): string =>
  id === null ? 'not read' : `${LETTERS[kind]}${id}`;

const CHANGES: Record<Schemas['FieldChange']['kind'], string> = {
  added: 'Added',
  dropped: 'Dropped',
  renamed: 'Renamed',
  promoted: 'Widened',
  retyped: 'Type changed',
  optional: 'Nullable',
  required: 'Required',
  doc: 'Comment',
  default: 'Default',
  reordered: 'Moved',
  reparented: 'Moved',
};
export const changeName = (kind: Schemas['FieldChange']['kind']): string => CHANGES[kind];

/** The newest change that breaks readers, else the newest of all, as one sentence. */
export function headline(versions: readonly Version[]): string {
  const changed = versions.filter((version) => !version.first);
  if (!changed.length) return 'No changes since the table was first observed.';
  const newest = changed.find((version) => version.risk === 'breaking') ?? changed[0];
  if (!newest) return '';
  const [first, ...rest] = newest.changes;
  const more = rest.length ? `, and ${rest.length} more` : '';
  const what = first ? `${first.sentence}${more}` : `${kindName(newest.kind)}: ${newest.sentence}`;
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}.`;
}

export interface Cell {
  readonly state: 'absent' | 'same' | 'new' | 'changed';
  /** What to print; empty for `absent` and `same`. */
  readonly text: string;
}
type Span = Schemas['FieldSpan'];

/** One row of the matrix: a cell for each of `columns` versions, oldest first. */
export function cells(spans: readonly Span[], columns: number): Cell[] {
  const row: Cell[] = Array.from({ length: columns }, () => ({ state: 'absent', text: '' }));
  let before: Span | undefined;
  for (const span of spans) {
    const joined = before && before.first + before.versions === span.first;
    row[span.first] =
      joined && before
        ? { state: 'changed', text: difference(before, span) }
        : { state: 'new', text: typed(span) };
    for (let i = span.first + 1; i < span.first + span.versions; i += 1) row[i] = { state: 'same', text: '' };
    before = span;
  }
  return row;
}

const typed = (span: Span) => `${span.type}${span.required ? ', required' : ''}`;

function difference(before: Span, after: Span): string {
  const parts = [];
  if (before.name !== after.name) parts.push(after.name);
  if (before.type !== after.type || before.required !== after.required) parts.push(typed(after));
  return parts.join(', ') || 'comment';
}
