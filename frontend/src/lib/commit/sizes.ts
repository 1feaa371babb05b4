// How much a commit changed beside the others of its list. Pure.
import type { Schemas } from '#lib/api/client.ts';

type Row = Pick<
  Schemas['CommitRow'],
  'added_data_files' | 'removed_data_files' | 'added_delete_files' | 'removed_delete_files'
>;

/** A commit is large from so many times the median of its list on, and never below so many files. */
const LARGE_TIMES = 10;
const LEAST_LARGE = 100;

/** Data files added or removed, whichever are more; null: neither is known. */
export function filesOf({ added_data_files: added, removed_data_files: removed }: Row): number | null {
  return added === null && removed === null ? null : Math.max(added ?? 0, removed ?? 0);
}

/** Share of the largest commit of the list, on a logarithmic axis, 0 to 1. */
export const shareOf = (files: number | null, most: number): number =>
  files === null || most <= 0 ? 0 : Math.log1p(files) / Math.log1p(most);

/** From how many files on a commit of the list stands out. */
export function largeFrom(rows: readonly Row[]): number {
  const sizes = rows
    .map(filesOf)
    .filter((size) => size !== null)
    .sort((a, b) => a - b);
  return Math.max(LEAST_LARGE, LARGE_TIMES * (sizes[sizes.length >> 1] ?? 0));
}

/** Delete files more, or fewer, than before; null unless both numbers are known. */
export const netDeletes = ({
  added_delete_files: added,
  removed_delete_files: removed,
}: Row): number | null => (added === null || removed === null ? null : added - removed);
