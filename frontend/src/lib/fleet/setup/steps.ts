// What a new installation still needs, as the server reports it: each step is done when its API says so. Pure.
import type { Schemas } from '#lib/api/client.ts';

export interface SetupStep {
  readonly id: 'catalog' | 'pipeline' | 'prometheus' | 'job' | 'rules';
  readonly title: string;
  /** What it brings, or what is wrong. */
  readonly detail: string;
  readonly done: boolean;
  /** A command or settings to copy, while it is not done. */
  readonly snippet: string;
}

type Status = Pick<Schemas['Status'], 'sources' | 'jobs'>;
type Alerts = Pick<Schemas['AlertsPage'], 'firing' | 'resolved' | 'unknown'>;

/** The steps in the order in which they are taken. `alerts` undefined: they could not be listed. */
export function setupSteps({ sources, jobs }: Status, alerts: Alerts | undefined): SetupStep[] {
  const ofKind = (kind: string) => sources.filter((source) => source.kind === kind);
  const works = (kind: string) => ofKind(kind).some(({ status }) => status === 'ok' || status === 'stale');
  const trouble = (kind: string) => ofKind(kind).find(({ status }) => status === 'error')?.detail;
  const received = alerts ? alerts.firing + alerts.resolved + alerts.unknown : 0;
  return [
    {
      id: 'catalog',
      title: 'Catalog',
      detail:
        trouble('catalog') ?? 'Its tables are observed. The command tests it and writes the settings file.',
      // without a watcher no catalog reports; the meta tables are in one, which responded when they did
      done: ofKind('catalog').length > 0 ? works('catalog') : works('meta'),
      snippet: 'limnograph init',
    },
    {
      id: 'pipeline',
      title: 'Pipeline',
      detail: trouble('pipeline') ?? 'Records the history of every table.',
      done: works('pipeline'),
      snippet: 'limnograph pipeline --config limnograph.toml',
    },
    {
      id: 'prometheus',
      title: 'Prometheus',
      detail: trouble('prometheus') ?? 'Job durations beside the commits of their tables.',
      done: works('prometheus'),
      snippet: '[prometheus.main]\nurl = "http://127.0.0.1:9090"',
    },
    {
      id: 'job',
      title: 'A job',
      detail: 'A PySpark job that reports its runs, or one in the settings.',
      done: jobs > 0,
      snippet: '[[jobs]]\nname = "my_job"\nreads = ["lake.sales.orders"]',
    },
    {
      id: 'rules',
      title: 'Alert rules',
      detail:
        'Prometheus loads the rules, Alertmanager sends its alerts here. Done when the first alert arrives.',
      done: received > 0,
      snippet: 'rule_files: ["deploy/prometheus/rules/*.yml"]',
    },
  ];
}
