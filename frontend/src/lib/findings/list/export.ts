// Findings as CSV: values as they are, and the sentences that the list shows.
import { csv } from '#lib/format/csv.ts';
import { iso } from '#lib/format/instant.ts';
import { sentenceOf } from '#lib/findings/sentence.ts';
import type { Finding } from '#lib/findings/words.ts';

type Cell = string | number | null;
const instantOf = (ms: number | null) => (ms === null ? null : iso(ms));

const COLUMNS: readonly (readonly [name: string, of: (row: Finding) => Cell])[] = [
  ['finding_id', (row) => row.finding_id],
  ['severity', (row) => row.severity],
  ['state', (row) => row.state],
  ['group', (row) => row.group],
  ['code', (row) => row.code],
  ['subject', (row) => row.subject],
  ['catalog', (row) => row.catalog],
  ['namespace', (row) => row.namespace],
  ['table', (row) => row.table],
  ['table_uuid', (row) => row.table_uuid],
  ['opened_at', (row) => iso(row.opened_at)],
  ['closed_at', (row) => instantOf(row.closed_at)],
  ['closed_by', (row) => row.closed_by],
  ['writer', (row) => row.cause?.writer ?? null],
  ['writer_share', (row) => row.cause?.share ?? null],
  ['cause_commits', (row) => row.cause?.snapshot_ids.join(' ') ?? null],
  ['owner', (row) => row.owner ?? null],
  ['acknowledged_until', (row) => instantOf(row.acknowledged_until ?? null)],
  ['acknowledged_by', (row) => row.acknowledged_by ?? null],
  ['notes', (row) => row.notes ?? null],
  ['recurrences', (row) => row.recurrences],
  ['evaluated_at', (row) => instantOf(row.evaluated_at)],
  ['evidence', (row) => JSON.stringify(row.evidence)],
];

export const findingsCsv = (rows: readonly Finding[], now: number): string =>
  csv([
    [...COLUMNS.map(([name]) => name), 'headline', 'effect'],
    ...rows.map((row) => {
      const { headline, effect } = sentenceOf(row, now);
      return [...COLUMNS.map(([, of]) => of(row)), headline, effect.join('; ')];
    }),
  ]);
