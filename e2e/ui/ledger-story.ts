// Effects for scenarios of the ledger, and a route that filters and pages them as the server does.
import type { Page } from '@playwright/test';
import { at, BURST_ID } from './moment.ts';

const HOUR = 3_600_000;
const VERDICTS = [
  ...['helped', 'worse', 'none', 'unknown'],
  ...['confounded', 'not_separable', 'no_data_yet'],
] as const;

export interface Effect {
  catalog: string;
  namespace: string;
  table: string;
  operation_id: string;
  snapshot_id: string | null;
  action: string | null;
  writer: string | null;
  owner: string | null;
  committed_at: number;
  job_name: string;
  measure: 'duration' | 'planning' | 'files';
  verdict: (typeof VERDICTS)[number];
  [name: string]: unknown;
}

/** What a compaction of 05:30 did to the job that reads the table. */
export function effect(change: Partial<Effect> = {}): Effect {
  return {
    ...{ catalog: 'lake', namespace: 'sales', table: 'customer_events', table_uuid: 'u-1' },
    ...{ operation_id: BURST_ID, snapshot_id: BURST_ID, action: 'rewrite_data_files' },
    ...{ writer: 'nightly_maintenance', owner: 'sales-platform', committed_at: at('05:30') },
    ...{ job_name: 'rollup_customer_events', measure: 'duration', verdict: 'helped' },
    ...{ because: 'between -19 % and -8 %', ratio: 0.86, ratio_low: 0.81, ratio_high: 0.92 },
    ...{ change: -14.1, change_low: -19.2, change_high: -8.1, runs_before: 96, runs_after: 16 },
    ...{ more_runs: null, controls: 3, others: [], measured_at: at('05:50'), plan: null },
    ...change,
  };
}

const open = {
  ratio: null,
  ratio_low: null,
  ratio_high: null,
  change: null,
  change_low: null,
  change_high: null,
};
/** Not measured yet. */
export const fresh = (change: Partial<Effect> = {}): Effect =>
  effect({
    ...{ ...open, verdict: 'no_data_yet', because: '', runs_before: null, runs_after: 3 },
    ...{ controls: null, measured_at: null },
    ...change,
  });

/** As many as need three pages, with long names, extreme ratios and open bounds. */
export const MANY: readonly Effect[] = Array.from({ length: 120 }, (_, i) => {
  const kinds: Partial<Effect>[] = [
    {},
    { verdict: 'worse', ratio: 30, ratio_low: 20, ratio_high: null, change: 2900 },
    { verdict: 'none', ratio: 1.01, ratio_low: 0.98, ratio_high: 1.04 },
    { verdict: 'unknown', ratio: 0.97, ratio_low: 0.88, ratio_high: 1.09, more_runs: 9 },
    { ...open, verdict: 'confounded', because: 'another overwrite with at most one run between' },
    { ...open, verdict: 'not_separable', because: 'the controls disagree about that time' },
    {
      table: 'campaign_attribution_touchpoints_daily_by_region_and_channel_v2',
      ratio: 0.02,
      ratio_low: null,
    },
  ];
  const id = String(BigInt(BURST_ID) + BigInt(i));
  return effect({
    ...{ operation_id: id, snapshot_id: id, committed_at: at('05:30') - i * HOUR, job_name: `job_${i % 4}` },
    ...kinds[i % kinds.length],
  });
});

const nameOf = ({ catalog, namespace, table }: Effect) => [catalog, namespace, table].join('.');
const known = (names: (string | null)[]) => [...new Set(names.filter((name) => name))].sort();

/** Answers all questions about effects from `rows`; `more`: other parts of the answer. */
export async function serveLedger(page: Page, rows: readonly Effect[], more: object = {}): Promise<URL[]> {
  const asked: URL[] = [];
  await page.route(/\/api\/v1\/effects/, (route) => {
    const url = new URL(route.request().url());
    asked.push(url);
    const wanted = (name: string, value: string | null) =>
      !url.searchParams.get(name) || url.searchParams.get(name) === value;
    const found = rows.filter(
      (row) =>
        wanted('table', nameOf(row)) &&
        wanted('owner', row.owner) &&
        wanted('action', row.action) &&
        wanted('writer', row.writer) &&
        wanted('job', row.job_name) &&
        wanted('measure', row.measure),
    );
    const listed = found.filter((row) => wanted('verdict', row.verdict));
    const [first, limit] = [
      Number(url.searchParams.get('cursor') ?? 0),
      Number(url.searchParams.get('limit')),
    ];
    const next = first + limit;
    return route.fulfill({
      json: {
        rows: listed.slice(first, next),
        counts: Object.fromEntries(
          VERDICTS.map((verdict) => [verdict, found.filter((row) => row.verdict === verdict).length]),
        ),
        coverage: { cuts: 210, covered: 202 },
        choices: {
          tables: known(rows.map(nameOf)),
          owners: known(rows.map(({ owner }) => owner)),
          actions: known(rows.map(({ action }) => action)),
          writers: known(rows.map(({ writer }) => writer)),
          jobs: known(rows.map(({ job_name: job }) => job)),
        },
        ...{ since: 0, watermark: at('05:59'), notes: [] },
        next_cursor: next < listed.length ? String(next) : null,
        ...more,
      },
    });
  });
  return asked;
}
