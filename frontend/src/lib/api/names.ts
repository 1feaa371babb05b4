// Names of tables as URL segments, the codec of `domain/ids.py`: `~`→`~~`, `.`→`~d`, `/`→`~s`, and `\`→`~b`. Knows
// the addresses of tables, commits and findings.

/** A table as the API names it: namespace levels joined with `.`, table and catalog as they are. */
export interface TableRef {
  catalog: string;
  namespace: string;
  table: string;
}

/** The same as path segments of the page and of the API, not yet percent-encoded. */
export interface TableSegments {
  catalog: string;
  ns: string;
  table: string;
}

const ESCAPES: Record<string, string> = { '~': '~~', '.': '~d', '/': '~s', '\\': '~b' };
const PLAIN: Record<string, string> = { '~': '~', d: '.', s: '/', b: '\\' };

const escapeLevel = (level: string) => level.replace(/[~./\\]/g, (found) => ESCAPES[found] ?? found);
const unescapeLevel = (text: string) => text.replace(/~(.)/g, (all, letter: string) => PLAIN[letter] ?? all);

export function toSegments(ref: TableRef): TableSegments {
  return {
    catalog: escapeLevel(ref.catalog),
    // a server takes a namespace as answers carry it, and with the escapes of its levels
    ns: ref.namespace.replaceAll('/', '~s').replaceAll('\\', '~b'),
    table: escapeLevel(ref.table),
  };
}

/** Inverse of `toSegments`; the router has undone the percent-encoding. */
export function fromSegments(segments: TableSegments): TableRef {
  return {
    catalog: unescapeLevel(segments.catalog),
    namespace: segments.ns.replace(/~(.)/g, (all, letter: string) => ({ s: '/', b: '\\' })[letter] ?? all),
    table: unescapeLevel(segments.table),
  };
}

/** `/t/lake/sales/orders`: the page of a table. */
export function tablePath(ref: TableRef): string {
  const { catalog, ns, table } = toSegments(ref);
  return ['/t', ...[catalog, ns, table].map(encodeURIComponent)].join('/');
}

/** `/t/lake/sales/orders/commits/5184430069070270604`; the id stays text, all its digits. */
export function commitPath(ref: TableRef, snapshotId: string): string {
  return `${tablePath(ref)}/commits/${encodeURIComponent(snapshotId)}`;
}

/** `/findings/a1b2`: the page of a finding. */
export const findingPath = (findingId: string): string => `/findings/${encodeURIComponent(findingId)}`;

/** `sales.orders`, for display. */
export const tableLabel = (ref: TableRef): string => `${ref.namespace}.${ref.table}`;

/** `lake.sales.orders`, as filters by table have it. */
export const fullName = ({ catalog, namespace, table }: TableRef): string =>
  [catalog, namespace, table].join('.');
