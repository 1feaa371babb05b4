// Where the reader is: breadcrumb and tabs from the route's parameters. Pure.
import { keepParams } from '#lib/api/table-link.ts';
import { fromSegments, tableLabel, tablePath, type TableRef } from '#lib/api/names.ts';

interface Crumb {
  text: string;
  /** Absent on the last crumb and on levels that have no page. */
  href?: string;
}
interface Tab {
  text: string;
  href: string;
  current: boolean;
}
export interface Place {
  table?: TableRef;
  title: string;
  crumbs: Crumb[];
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

/** Pages of one record, below the list that they are found in. */
const RECORDS = [
  { below: '/alerts', title: 'Incident' },
  { below: '/findings', title: 'Finding' },
] as const;

function topPlace(routeId: string | null): Place {
  const titles: Record<string, string> = {
    '/': 'Fleet',
    '/findings': 'Findings',
    '/alerts': 'Alerts',
    '/commits': 'Commits',
    '/maintenance/ledger': 'Maintenance',
    '/status': 'Status',
    '/settings': 'Settings',
  };
  const record = RECORDS.find(({ below }) => routeId?.startsWith(`${below}/`));
  const title = record?.title ?? titles[routeId ?? ''] ?? 'No such page';
  const here = record?.below ?? routeId;
  const tabs = Object.entries(titles).map(([href, text]) => ({ text, href, current: href === here }));
  const crumbs = record
    ? [{ text: titles[record.below] ?? '', href: record.below }, { text: title }]
    : [{ text: title }];
  return { title, crumbs, tabs };
}

/** Pages of a table beside its timeline. */
const PAGES = { commits: 'Commits', partitions: 'Partitions', schema: 'Schema', refs: 'Refs' } as const;

/** `kept`: the query that goes along from one page to the next, so that range and zone stay. */
function tablePlace(ref: TableRef, routeId: string, snapshotId: string | undefined, kept: string): Place {
  const path = tablePath(ref);
  const name = Object.keys(PAGES).find((page) => routeId.includes(`/[table]/${page}`)) as keyof typeof PAGES;
  const page = name && PAGES[name];
  const levels: Crumb[] = [
    { text: ref.catalog },
    { text: ref.namespace, href: `/?ns=${encodeURIComponent(`${ref.catalog}.${ref.namespace}`)}` },
    page ? { text: ref.table, href: path + kept } : { text: ref.table },
  ];
  if (page && snapshotId === undefined) levels.push({ text: page });
  if (snapshotId !== undefined) levels.push({ text: `Commit ${snapshotId}` });
  const leaf = snapshotId ? `Commit ${snapshotId} · ` : page ? `${page} · ` : '';
  return {
    table: ref,
    title: leaf + tableLabel(ref),
    crumbs: levels,
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
