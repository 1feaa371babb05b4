// A link without a record, told as an incident: what Prometheus, Alertmanager or the link itself says of it. Pure.
import type { Schemas } from '#lib/api/client.ts';

type AlertTarget = Schemas['AlertTarget'];
export type Source = AlertTarget['source'];

/** Null: which table it is about is open, somebody has to choose. */
export function incidentOf(target: AlertTarget): Schemas['Incident'] | null {
  const [table, ...others] = target.tables;
  if (!table || others.length || !target.path) return null;
  const since = target.active_at ?? target.window.to ?? target.window.from + 3_600_000;
  const { labels } = target;
  return {
    alert: {
      fingerprint: target.fingerprint ?? '',
      starts_at: since,
      ends_at: null,
      state: 'firing',
      heard_at: null,
      muted: null,
      alert_name: labels['alertname'] ?? null,
      severity: labels['severity'] ?? null,
      table,
      job_name: labels['job_name'] ?? null,
      summary: null,
      source: target.source,
    },
    finding: target.finding,
    active_at: target.active_at,
    window: target.window,
    labels,
    annotations: {},
    expression: null,
    transitions: [],
    commits: [],
    before: [],
    earlier: [],
    notes: null,
    links: [],
  };
}

/** Where it is known from, a sentence. */
export const SOURCE_SENTENCES: Record<Source, string> = {
  record: 'Received from its sender.',
  prometheus: 'No webhook received for this alert; showing the current state in Prometheus.',
  alertmanager: 'No webhook received for this alert; showing the current state in Alertmanager.',
  url: 'No webhook received, and neither Prometheus nor Alertmanager has this alert; showing only its link.',
};
