// Where the reader is: breadcrumb and tabs from the route's parameters. Pure.
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
export function placeOf(routeId: string | null, params: Params): Place {
  const { catalog, ns, table } = params;
  if (catalog === undefined || ns === undefined || table === undefined) return topPlace(routeId);
  return tablePlace(fromSegments({ catalog, ns, table }), routeId ?? '', params.snapshot_id);
}

function topPlace(routeId: string | null): Place {
  const titles: Record<string, string> = {
    '/': 'Fleet',
    '/commits': 'Commits',
    '/status': 'Status',
    '/settings': 'Settings',
  };
  const title = titles[routeId ?? ''] ?? 'No such page';
  const tabs = Object.entries(titles).map(([href, text]) => ({ text, href, current: href === routeId }));
  return { title, crumbs: [{ text: title }], tabs };
}

function tablePlace(ref: TableRef, routeId: string, snapshotId: string | undefined): Place {
  const path = tablePath(ref);
  const inCommits = routeId.includes('/commits');
  const levels: Crumb[] = [
    { text: ref.catalog },
    { text: ref.namespace, href: `/?ns=${encodeURIComponent(`${ref.catalog}.${ref.namespace}`)}` },
    inCommits ? { text: ref.table, href: path } : { text: ref.table },
  ];
  if (inCommits && snapshotId === undefined) levels.push({ text: 'Commits' });
  if (snapshotId !== undefined) levels.push({ text: `Commit ${snapshotId}` });
  const leaf = snapshotId ? `Commit ${snapshotId} · ` : inCommits ? 'Commits · ' : '';
  return {
    table: ref,
    title: leaf + tableLabel(ref),
    crumbs: levels,
    tabs: [
      { text: 'Timeline', href: path, current: !inCommits },
      { text: 'Commits', href: `${path}/commits`, current: inCommits },
    ],
  };
}
