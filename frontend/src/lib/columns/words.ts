// What the page of columns says: a sentence for the whole, and why a column has no bounds.
import type { Schemas } from '#lib/api/client.ts';
import { count, percent } from '#lib/format/count.ts';

type Page = Schemas['ColumnsPage'];
type Column = Schemas['ColumnSeries'];

const UNKNOWN = 'unknown';

/** A number as `print` writes it; on this page, `not read` would be about the table. */
export const known = (value: number | null, print: (value: number) => string): string =>
  value === null ? UNKNOWN : print(value);

/** Shares of nulls of a column in the range, in the order of time, where they are known. */
export const shares = ({ points }: Column): number[] =>
  points.flatMap(({ null_share: share }) => (share === null ? [] : [share]));

/** How far the null share of a column moved in the range; 0 where it is not known. */
const swing = (column: Column): number => {
  const known = shares(column);
  return known.length ? Math.max(...known) - Math.min(...known) : 0;
};

/** The column whose null share moved most, else the first. */
export const loudest = (columns: readonly Column[]): Column | null =>
  columns.reduce<Column | null>((best, each) => (best && swing(best) >= swing(each) ? best : each), null);

export function headline(page: Page): string {
  const { commits, columns } = page;
  const said = `${count(commits)} ${commits === 1 ? 'commit' : 'commits'} with statistics of ${count(columns.length)} ${columns.length === 1 ? 'column' : 'columns'} in this range.`;
  const moved = loudest(columns);
  const known = moved ? shares(moved) : [];
  if (!moved || swing(moved) < 0.005) return `${said} No null share moved by more than half a point.`;
  return `${said} The null share of ${moved.name} moved most: between ${percent(Math.min(...known))} and ${percent(Math.max(...known))}.`;
}

const WITHOUT: Record<Exclude<Column['bounds'], 'shown'>, string> = {
  private: 'private: counts only',
  text: 'text: not stored',
  none: 'none stated',
};

/** `2.5 to 900`, or why there are no bounds. */
export const range = ({ bounds, lower, upper }: Column): string =>
  bounds === 'shown' ? `${lower} to ${upper}` : WITHOUT[bounds];

export const step = (seconds: number | null): string =>
  seconds === null
    ? 'Each point is a commit.'
    : `Each point stands for ${seconds >= 86_400 ? `${seconds / 86_400} d` : seconds >= 3600 ? `${seconds / 3600} h` : `${seconds / 60} min`} of commits.`;
