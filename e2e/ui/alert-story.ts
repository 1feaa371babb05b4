// The alerts of the story as Alertmanager tells them, at the frozen day: recorded answers know them because they are posted
// to the demo's webhook first. One is still firing, with the zero end time that Alertmanager sends then.
import { at } from './moment.ts';

const DAY = 86_400_000;
const NEVER = '0001-01-01T00:00:00Z';
/** Of labels that name a table: the rule, its severity. */
type Labels = Record<string, string>;

interface StoryAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly start: number;
  /** Null: it fires. */
  readonly end: number | null;
  readonly expr: string;
}

const RUNBOOKS = 'https://limnograph.example/docs/runbooks';
export const FIRED = at('03:05:30');
export const OLD_FIRED = at('01:12');
export const OLD_RESOLVED = at('02:20');

export const BURST_LABELS: Labels = {
  alertname: 'SmallFileProliferation',
  catalog: 'lake',
  table_namespace: 'sales',
  table: 'customer_events',
};
export const OLD_LABELS: Labels = {
  alertname: 'LakehouseDeleteFilesGrowing',
  catalog: 'lake',
  table_namespace: 'sales',
  table: 'carts',
};
/** Quotes and a backslash in a label, a script for a runbook. */
export const ODD_LABELS: Labels = {
  alertname: 'ReportTooSlow',
  catalog: 'lake',
  table_namespace: 'sales',
  table: 'orders',
  severity: 'page',
  team: 'data "core" \\ night',
};
export const SCRIPT = 'javascript:alert(document.domain)';

const BURST_EXPR =
  'max without(instance, job) (lakehouse_table_data_files) - max without(instance, job) (lakehouse_table_data_files offset 5m) > 1000';
const burst = (start: number, end: number | null, files: string): StoryAlert => ({
  labels: { ...BURST_LABELS, severity: 'critical' },
  annotations: {
    summary: `customer_events got ${files} data files within five minutes`,
    description: 'Readers have to open each of them. Find the commit and its writer behind the link.',
    runbook_url: `${RUNBOOKS}/small-file-proliferation`,
  },
  expr: BURST_EXPR,
  ...{ start, end },
});
const stale = (table: string, start: number, end: number | null): StoryAlert => ({
  labels: {
    ...{ alertname: 'LakehouseTableStale', severity: 'warning' },
    ...{ catalog: 'lake', table_namespace: 'ops', table },
  },
  annotations: {
    summary: `${table} got no commit for longer than usual`,
    runbook_url: `${RUNBOOKS}/lakehouse-table-stale`,
  },
  expr: 'time() - lakehouse_table_last_commit_timestamp_seconds > 3600',
  ...{ start, end },
});

const ALERTS: readonly StoryAlert[] = [
  burst(at('21:40') - DAY, at('22:04') - DAY, '2400'),
  burst(FIRED, null, '50000'),
  {
    labels: { ...OLD_LABELS, severity: 'warning' },
    annotations: {
      summary: 'carts has many delete files',
      description: 'Every read merges them. Rewrite data files that have deletes.',
      runbook_url: `${RUNBOOKS}/lakehouse-delete-files-growing`,
    },
    expr: 'lakehouse_table_delete_files > 100',
    start: OLD_FIRED,
    end: OLD_RESOLVED,
  },
  stale('inventory', at('04:10'), null),
  stale('deployments', at('02:30'), at('03:40')),
  {
    labels: ODD_LABELS,
    annotations: { summary: 'The report takes too long', runbook_url: SCRIPT },
    expr: 'spark_job_duration_seconds{job_name="daily_revenue"} > 300',
    start: at('05:10'),
    end: null,
  },
];

const iso = (ms: number) => new Date(ms).toISOString();

/** Bodies of Alertmanager, version 4, moved by `shift` ms: an alert that is over was told twice. */
function bodies(shift: number): object[] {
  const body = (status: string, alert: StoryAlert) => ({
    ...{ version: '4', status, receiver: 'limnograph', truncatedAlerts: 0 },
    groupKey: `{}:{alertname="${alert.labels['alertname']}"}`,
    ...{ groupLabels: {}, commonLabels: {}, commonAnnotations: {} },
    externalURL: 'http://alertmanager.example:9093',
    alerts: [
      {
        ...{ status, labels: alert.labels, annotations: alert.annotations },
        startsAt: iso(alert.start + shift),
        endsAt: status === 'resolved' && alert.end !== null ? iso(alert.end + shift) : NEVER,
        generatorURL: `http://prometheus.example:9090/graph?g0.expr=${encodeURIComponent(alert.expr)}&g0.tab=1`,
      },
    ],
  });
  return ALERTS.flatMap((alert) => [
    body('firing', alert),
    ...(alert.end === null ? [] : [body('resolved', alert)]),
  ]);
}

/** Tells them to a server that runs; telling them again changes nothing. `token`: with scope `webhook`, where one is asked. */
export async function postAlerts(server: string, shift: number, token?: string): Promise<void> {
  for (const body of bodies(shift)) {
    const answer = await fetch(new URL('/api/v1/alertmanager', server), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    if (answer.status !== 202) throw new Error(`the webhook said ${answer.status}: ${await answer.text()}`);
  }
}

/** The link that the rule carries; `more`: what a template adds. */
export const linkOf = (labels: Labels, more: Labels = {}): string =>
  `/a?${new URLSearchParams({ ...labels, ...more })}`;
