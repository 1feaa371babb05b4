// What the finder and the palette list for a text: whatever it names in the whole fleet. Loaded when first used.
import { listTables, type Schemas } from '#lib/api/client.ts';
import { find } from '#lib/api/fleet.ts';
import { codeWord, type FindingCode } from '#lib/findings/words.ts';
import { count } from '#lib/format/count.ts';
import { instant } from '#lib/format/instant.ts';
import type { TableRef } from '#lib/api/names.ts';
import { tableLabel, tablePath } from '#lib/api/names.ts';

const LIMIT = 8;

export interface FoundEntry {
  /** Where it leads; unique among the entries of a list. */
  readonly value: string;
  readonly label: string;
  readonly note: string;
}

type Match = Schemas['Match'];
type Row = TableRef & { reason: { code: string } };

const reasonNote = (catalog: string, code: string | null): string =>
  code === null || code === 'none' ? catalog : code.replaceAll('_', ' ');

const ofRow = (row: Row): FoundEntry => ({
  value: tablePath(row),
  label: tableLabel(row),
  note: reasonNote(row.catalog, row.reason.code),
});

const refOf = ({ catalog, namespace, table }: Match): TableRef | null =>
  catalog !== null && namespace !== null && table !== null ? { catalog, namespace, table } : null;

/** `sales.orders · 21 Nov 2026, 03:04:12 UTC`: what is known of it. */
const joined = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null && part !== '').join(' · ');

const tables = (number: number | null): string | null =>
  number === null ? null : `${count(number)} ${number === 1 ? 'table' : 'tables'}`;
const commits = (number: number | null): string | null =>
  number === null ? null : `${count(number)} ${number === 1 ? 'commit' : 'commits'}`;

/** A match in words. */
function entryOf(match: Match): FoundEntry {
  const ref = refOf(match);
  const table = ref && tableLabel(ref);
  const at = match.at === null ? null : instant(match.at);
  const words: Record<Match['kind'], [label: string, note: string]> = {
    commit: [`Commit ${match.id}`, joined(table, at)],
    alert: [`Alert ${match.name ?? match.id}`, joined(table, at)],
    finding: [`Finding: ${codeWord(match.name as FindingCode) ?? match.id}`, joined(table, at)],
    table: [table ?? match.id, reasonNote(match.catalog ?? '', match.name)],
    job: [`Job ${match.id}`, joined(match.tables === 1 ? table : tables(match.tables))],
    application: [`Application ${match.id}`, joined(commits(match.commits), tables(match.tables), at)],
  };
  const [label, note] = words[match.kind];
  return { value: match.path, label, note };
}

/** What a text names; without a text, the tables that need the most attention. Rejects with an ApiProblem. */
export async function search(text: string, signal: AbortSignal): Promise<FoundEntry[]> {
  const q = text.trim();
  if (q === '') return (await listTables({ q, limit: LIMIT }, signal)).rows.map(ofRow);
  const { rows } = await find({ q, limit: LIMIT }, signal);
  const entries = rows.map(entryOf);
  // an application's newest commit may be the commit that was looked for
  return entries.filter(({ value }, i) => entries.findIndex((each) => each.value === value) === i);
}
