// What the page of reads says: a sentence for the whole, one for a filter that nothing prunes, names for what is not stated.
import type { Schemas } from '#lib/api/client.ts';
import { count, percent } from '#lib/format/count.ts';
import { duration } from '#lib/format/duration.ts';

type Page = Schemas['ReadsPage'];
type Filter = Schemas['FilterColumn'];

/** Share of scans from which on a filter that nothing prunes is worth a sentence. */
const LOUD = 0.5;

export const NOT_STATED = 'not stated';
/** On this page, `not read` would be about the table. */
const UNKNOWN = 'unknown';

const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** `240 ms`, `1.4 s`: planning mostly takes less than a second. */
export function shortTime(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  return seconds < 1 ? `${Number((seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0))} ms` : duration(seconds);
}

/** A number as `print` writes it. */
export const known = (value: number | null, print: (value: number) => string): string =>
  value === null ? UNKNOWN : print(value);

/** A percentile of the times of some reads; without a read there is none. */
export const timeOf = (times: Schemas['Durations'], end: 'p50' | 'p95', reads: number): string =>
  reads === 0 ? 'none' : shortTime(times[end]);

export const isEmpty = ({ total }: Page) => total.scans + total.queries === 0;

/** How much was read in the range, by how many readers, and how much of the table it skipped. */
export function headline(page: Page): string {
  const { scans, queries, skipped_share: skipped } = page.total;
  const parts = [
    ...(scans ? [plural(scans, 'scan')] : []),
    ...(queries ? [plural(queries, 'query', 'queries')] : []),
  ];
  const said = `${parts.join(' and ')} in this range.`;
  return skipped === null ? said : `${said} Scans skipped ${percent(skipped)} of the table’s files.`;
}

/** The most frequent filter that neither partitions nor sorts the table, if most scans have it. */
export function unservedFilter({ filters }: Page): Filter | null {
  const loudest = filters.find(({ partitions, sorts }) => partitions === false && sorts === false);
  return loudest && loudest.share >= LOUD ? loudest : null;
}

/** What a filter on the column can skip by. */
export function servedBy({ partitions, sorts }: Filter): string {
  if (partitions && sorts) return 'partition spec and sort order';
  if (partitions) return 'partition spec';
  if (sorts) return 'sort order';
  return partitions === false && sorts === false ? 'neither partitions nor sorts' : 'unknown';
}

/** `spark 4.1.0`. */
export const engineOf = (engine: string | null, version: string | null = null) =>
  engine === null ? NOT_STATED : [engine, version].filter(Boolean).join(' ');

/** `ana (12), bo (3)`. */
export const usersOf = (users: readonly Schemas['UserReads'][]) =>
  users.length ? users.map(({ user, reads }) => `${user} (${count(reads)})`).join(', ') : NOT_STATED;
