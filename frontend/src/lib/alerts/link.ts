// The link of an alert: its labels, and the same link narrowed to one table. Pure.
import type { Schemas } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import type { Bar } from '#lib/api/lanes.ts';

type AlertTable = Schemas['AlertTable'];

/** What a link says that is no label. */
const BESIDE = new Set(['fp', 'startsAt', 'starts_at', 'endsAt', 'generator']);
/** Other words for the levels of a table's name, as exporters have them. */
const ALIASES = [
  'namespace',
  'exported_namespace',
  'schema',
  'database',
  'table_name',
  'dataset',
  'exported_table',
];

export const labelsOf = (link: URLSearchParams): [string, string][] =>
  [...link].filter(([name]) => !BESIDE.has(name)).sort(([a], [b]) => a.localeCompare(b));

/** Whether the link says when the alert began. */
export const isDated = (link: URLSearchParams): boolean => link.has('startsAt') || link.has('starts_at');

/** The same link, about one table. */
export function narrowTo(link: URLSearchParams, table: AlertTable): string {
  const next = new URLSearchParams(link);
  for (const name of ALIASES) next.delete(name);
  for (const [name, value] of Object.entries(table)) if (value) next.set(name, value);
  return `/alerts/resolve?${next}`;
}

/** The incident of a bar in a table's lane of alerts: bars carry no fingerprint, their table and their start say which. */
export function incidentHref({ catalog, namespace, table }: TableRef, { label, start }: Bar): string {
  const labels = { alertname: label, catalog, table_namespace: namespace, table, startsAt: String(start) };
  return `/alerts/resolve?${new URLSearchParams(labels)}`;
}
