// Where the reader is: breadcrumb, pages of the product and of the table, from the route's parameters. Pure.
import { keepParams } from '#lib/api/table-link.ts';
import { fromSegments, tableLabel, tablePath, type TableRef } from '#lib/api/names.ts';

interface Crumb {
  text: string;
  /** Absent on the last crumb and on levels that have no page. */
  href?: string;
  /** What the page is about: shown where there is room for one. */
  subject?: true;
}
export interface Tab {
  text: string;
  href: string;
  current: boolean;
}
export interface Place {
  table?: TableRef;
  title: string;
  /** The page is about one alert or finding, whose name only the page knows. */
  record?: true;
  crumbs: Crumb[];
  /** Pages of the product, the same on every page. */
  product: Tab[];
  /** Pages of the table; none beyond tables. */
  tabs: Tab[];
}

interface Params {
  catalog?: string | undefined;
  ns?: string | undefined;
  table?: string | undefined;
  snapshot_id?: string | undefined;
}

/** `routeId` as Kit names it; null on an address without a page. */
export function placeOf(routeId: string | null, params: Params, query = new URLSearchParams()): Place {
  const { catalog, ns, table } = params;
  if (catalog === undefined || ns === undefined || table === undefined) return topPlace(routeId);
  return tablePlace(
    fromSegments({ catalog, ns, table }),
    routeId ?? '',
    params.snapshot_id,
    keepParams(query),
  );
}

/** Pages of one record, by their routes, and the list that they are found in. */
const RECORDS = [
  { route: '/alerts/', below: '/alerts', title: 'Incident' },
  { route: '/findings/', below: '/findings', title: 'Finding' },
  { route: '/runbooks/', below: '/alerts', title: 'Runbook' },
  { route: '/maintenance/plans/', below: '/maintenance', title: 'Plan' },
  { route: '/maintenance/', below: '/maintenance', title: 'Effects' },
] as const;

const PRODUCT: Record<string, string> = {
  '/': 'Fleet',
  '/findings': 'Findings',
  '/forecasts': 'At risk',
  '/alerts': 'Alerts',
  '/commits': 'Commits',
  '/maintenance': 'Maintenance',
  '/status': 'Status',
  '/settings': 'Settings',
};
const product = (here: string | null = null): Tab[] =>
  Object.entries(PRODUCT).map(([href, text]) => ({ text, href, current: href === here }));

function topPlace(routeId: string | null): Place {
  const record = RECORDS.find(({ route }) => routeId?.startsWith(route));
  const title = record?.title ?? PRODUCT[routeId ?? ''] ?? 'No such page';
  const crumbs: Crumb[] = record
    ? [
        { text: PRODUCT[record.below] ?? '', href: record.below },
        { text: title, subject: true },
      ]
    : [{ text: title, subject: true }];
  return {
    title,
    ...(record && { record: true as const }),
    ...{ crumbs, product: product(record?.below ?? routeId), tabs: [] },
  };
}

/** Pages of a table beside its timeline. */
const PAGES = {
  commits: 'Commits',
  reads: 'Reads',
  columns: 'Columns',
  partitions: 'Partitions',
  schema: 'Schema',
  refs: 'Refs',
  maintenance: 'Maintenance',
} as const;

/** A page that the tool bar has no room for: lists and the table's own page lead to it. */
const FORECAST = '/[table]/forecast';

/** `kept`: the query that goes along from one page to the next, so that range and zone stay. */
function tablePlace(ref: TableRef, routeId: string, snapshotId: string | undefined, kept: string): Place {
  const path = tablePath(ref);
  const name = Object.keys(PAGES).find((page) => routeId.includes(`/[table]/${page}`)) as keyof typeof PAGES;
  const page = name ? PAGES[name] : routeId.includes(FORECAST) ? 'Forecast' : undefined;
  const levels: Crumb[] = [
    { text: ref.catalog },
    { text: ref.namespace, href: `/?ns=${encodeURIComponent(`${ref.catalog}.${ref.namespace}`)}` },
    { text: ref.table, subject: true, ...(page && { href: path + kept }) },
  ];
  const leaf = snapshotId ? `Commit ${snapshotId} · ` : page ? `${page} · ` : '';
  return {
    table: ref,
    title: leaf + tableLabel(ref),
    crumbs: levels,
    product: product(),
    tabs: [
      { text: 'Timeline', href: path + kept, current: !page },
      ...Object.entries(PAGES).map(([page, text]) => ({
        text,
        href: `${path}/${page}${kept}`,
        current: page === name,
      })),
    ],
  };
}
