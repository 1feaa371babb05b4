// The ways out of an incident: what each is called, and Prometheus' own page over the incident's window. Pure.
import type { Schemas } from '#lib/api/client.ts';

import { runbookOfRule } from './runbook.ts';

type AlertLink = Schemas['AlertLink'];

export interface WayOut {
  readonly kind: AlertLink['kind'];
  readonly label: string;
  /** Null: what the sender gave is no web address; `text` is shown. */
  readonly href: string | null;
  /** The host that it leads to, or what the sender gave. */
  readonly text: string;
}

const LABELS: Record<AlertLink['kind'], string> = {
  runbook: 'Runbook',
  silence: 'Silence',
  alertmanager: 'Alertmanager',
  source: 'Source',
  dashboard: 'Dashboard',
  panel: 'Panel',
};
const ORDER = Object.keys(LABELS);

/** A graph of Prometheus over the window: the link in an alert has no range, and would show the last hour. */
export function graphHref(url: string, { from, to }: { from: number; to: number }): string | null {
  const parsed = new URL(url);
  const asked = parsed.searchParams.get('g0.expr');
  if (!asked || !/\/(graph|query)$/.test(parsed.pathname)) return null;
  const minutes = Math.max(1, Math.ceil((to - from) / 60_000));
  const end = new Date(to).toISOString().slice(0, 19).replace('T', ' ');
  const query = { 'g0.expr': asked, 'g0.tab': '0', 'g0.range_input': `${minutes}m`, 'g0.end_input': end };
  parsed.search = new URLSearchParams(query).toString();
  return parsed.href;
}

export function waysOut(
  incident: Pick<Schemas['Incident'], 'alert' | 'links' | 'window'>,
  now: number,
): WayOut[] {
  const span = { from: incident.window.from, to: incident.window.to ?? now };
  const seen = new Set<string>();
  return [...incident.links, ...ownRunbook(incident)]
    .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    .map(({ kind, url, text }): WayOut => {
      const graph = kind === 'source' && url ? graphHref(url, span) : null;
      return { kind, label: graph ? 'Prometheus' : LABELS[kind], href: graph ?? url, text };
    })
    .filter(({ kind, href, text }) => {
      const key = `${kind} ${href ?? text}`;
      return !seen.has(key) && seen.add(key);
    });
}

/** The runbook that this server carries, where the alert has no link to one and its rule is one of ours. */
function ownRunbook({ alert, links }: Pick<Schemas['Incident'], 'alert' | 'links'>): AlertLink[] {
  const name = links.some(({ kind }) => kind === 'runbook') ? null : runbookOfRule(alert.alert_name);
  return name ? [{ kind: 'runbook', url: `/runbooks/${name}`, text: 'this server' }] : [];
}
