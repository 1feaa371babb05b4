// What rows of the ledger say on a timeline and in an incident: a sentence per commit, or per job. Pure.
import type { EffectNote } from '#lib/ui/verdict.ts';
import { operationSentence, type LedgerVerdict } from './sentence.ts';
import { operationName, type LedgerRow } from './words.ts';

/** Worse first: one job that slowed down outweighs three that gained. */
const WEIGHT: Partial<Record<LedgerVerdict, number>> = { worse: 3, helped: 2, none: 1 };
const MOST_SENTENCES = 3;

/** What is marked on a timeline: an operation with a verdict. Its id is that of its commit, or of the expiry. */
export function notesOf(rows: readonly LedgerRow[]): EffectNote[] {
  const judged = rows.filter(({ verdict }) => WEIGHT[verdict]);
  return [...Map.groupBy(judged, (row) => row.operation_id).values()].flatMap((effects): EffectNote[] => {
    const sorted = effects.toSorted((a, b) => (WEIGHT[b.verdict] ?? 0) - (WEIGHT[a.verdict] ?? 0));
    const first = sorted[0];
    if (!first) return [];
    const sentences = sorted.slice(0, MOST_SENTENCES).map((row) => operationSentence(thisOne(row), row));
    const more = sorted.length - sentences.length;
    return [
      {
        id: first.snapshot_id ?? first.operation_id,
        at: first.committed_at,
        commit: first.snapshot_id !== null,
        verdict: first.verdict as EffectNote['verdict'],
        sentence: [...sentences, ...(more ? [`${more} more in the ledger.`] : [])].join(' '),
      },
    ];
  });
}
const thisOne = (row: LedgerRow) => `this ${operationName(row)}`;

/** Sentences that an incident has room for. */
const OF_INCIDENT = 2;

/**
 * `The last compaction of this table made churn 14 % faster (8 to 19 %).` One per job, of its newest operation.
 * @param rows newest operation first
 * @param jobs `only`: the job that the alert names; `first`: the one that the timeline shows
 */
export function lastOperationSentences(
  rows: readonly LedgerRow[],
  { only = null, first = null }: { only?: string | null; first?: string | null } = {},
): string[] {
  const newest = new Map<string, LedgerRow>();
  for (const row of rows)
    if (row.measure === 'duration' && !newest.has(row.job_name)) newest.set(row.job_name, row);
  const own = only === null ? [...newest.keys()] : newest.has(only) ? [only] : [];
  return own
    .toSorted((a, b) => Number(b === first) - Number(a === first))
    .slice(0, OF_INCIDENT)
    .flatMap((job) => newest.get(job) ?? [])
    .map((row) => operationSentence(`the last ${operationName(row)} of this table`, row));
}
