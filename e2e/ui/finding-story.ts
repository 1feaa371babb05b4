// Findings for scenarios, and a route that filters and pages them as the server does.
import type { Page } from '@playwright/test';
import { changeAnswer } from './fixtures.ts';
import { at, BURST_AT, BURST_ID, NOW } from './moment.ts';
import type { Detail, Fleet, Timeline } from './wire.ts';

const HOUR = 3_600_000;
const SEVERITIES = ['critical', 'warning', 'info'] as const;

export interface Finding {
  finding_id: string;
  code: string;
  severity: (typeof SEVERITIES)[number];
  state: 'open' | 'closed';
  catalog: string;
  namespace: string;
  table: string;
  opened_at: number;
  closed_at: number | null;
  [name: string]: unknown;
}

export const BURST_FINDING = '0123456789abcdef0123456789abcdef';
export const REPAIR_ID = '378142004021992640';
/** An episode of the same kind before. */
export const BEFORE_FINDING = '00000000000000000000000000000009';
const idOf = (i: number) => i.toString(16).padStart(32, '0');

/** The burst of the story, and what it did to the job that reads the table. */
export function burst(change: Partial<Finding> = {}): Finding {
  return {
    ...{ finding_id: BURST_FINDING, code: 'file_burst', group: 'files', subject: '', state: 'open' },
    ...{ severity: 'critical', catalog: 'lake', namespace: 'sales', table: 'customer_events' },
    ...{ table_uuid: 'u-1', opened_at: BURST_AT, closed_at: null, closed_by: null, recurrences: 2 },
    cause: { snapshot_ids: [BURST_ID], writer: 'demo_burst', share: 1 },
    effects: [slower()],
    evidence: {
      ...{ files: 50_000, bytes: 45_000_000_000, files_before: 1202, removed_files: 0 },
      total_data_files: 51_202,
    },
    evaluated_at: at('05:59:30'),
    ...{ acknowledged_until: null, acknowledged_by: null, owner: null, notes: 0 },
    ...change,
  };
}

/** How much longer the job takes. */
export const slower = () => ({
  ...{ job_name: 'rollup_customer_events', verdict: 'slower', because: '', ratio: 3.08 },
  ...{ ratio_low: 2.6, ratio_high: 3.7, seconds: 107.6, runs: 40, since: BURST_AT, last_run_at: at('05:58') },
});

/** No run has ended since: that is not an all-clear. */
export const unheard = () => ({
  ...{ job_name: 'rollup_customer_events', verdict: 'no_data_yet', because: '0 of 8 runs', ratio: null },
  ...{ ratio_low: null, ratio_high: null, seconds: null, runs: 0, since: BURST_AT },
  last_run_at: at('03:01'),
});

/** Compaction of another table fell behind. */
export const behind = (change: Partial<Finding> = {}): Finding =>
  burst({
    ...{ finding_id: idOf(1), code: 'small_files', severity: 'warning', table: 'carts', recurrences: 0 },
    ...{ opened_at: at('01:10'), effects: [] },
    cause: { snapshot_ids: [], writer: 'etl', share: 0.9 },
    evidence: { debt_saved_files: 1499, debt_files: 1520, total_data_files: 1620 },
    ...change,
  });

export const schemaChange = (change: Partial<Finding> = {}): Finding =>
  burst({
    ...{ finding_id: idOf(2), code: 'schema_breaking', group: 'schema', severity: 'info', table: 'orders' },
    ...{ opened_at: at('04:30'), cause: null, effects: [], recurrences: 0 },
    evidence: { what: 'payload was dropped', columns: 1, from: '3', to: '4' },
    ...change,
  });

/** The job that reads the table has stopped reporting. */
export const jobSilent = (change: Partial<Finding> = {}): Finding =>
  burst({
    ...{ finding_id: idOf(4), code: 'job_silent', group: 'jobs', severity: 'warning', recurrences: 0 },
    ...{ subject: 'rollup_customer_events', opened_at: at('05:25'), cause: null, effects: [] },
    evidence: { last_run: at('05:05'), usual_gap_seconds: 300 },
    ...change,
  });

/** A burst that a compaction of 05:30 repaired. */
export const repaired = (change: Partial<Finding> = {}): Finding =>
  burst({
    ...{ finding_id: idOf(3), severity: 'warning', state: 'closed', recurrences: 0, effects: [] },
    ...{ opened_at: at('01:40'), closed_at: at('05:30'), closed_by: REPAIR_ID },
    ...change,
  });

/** As many as need three pages, with all severities, long names and long texts. */
export const MANY: readonly Finding[] = Array.from({ length: 120 }, (_, i) => {
  const kinds = [burst(), behind(), schemaChange()];
  const long = 'campaign_attribution_touchpoints_daily_by_region_and_channel_v2';
  return {
    ...(kinds[i % 3] as Finding),
    ...{ finding_id: idOf(100 + i), table: i % 7 === 6 ? long : `t${i % 4}`, opened_at: NOW - i * HOUR },
  };
}).toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));

const nameOf = ({ catalog, namespace, table }: Finding) => [catalog, namespace, table].join('.');

/** Answers all requests about findings from `rows`; `more`: other parts of the list. */
export async function serveFindings(page: Page, rows: readonly Finding[], more: object = {}): Promise<URL[]> {
  const asked: URL[] = [];
  await page.route(/\/api\/v1\/findings(\?|\/|$)/, (route) => {
    const url = new URL(route.request().url());
    asked.push(url);
    return route.fulfill(answerOf(rows, url, more));
  });
  return asked;
}

interface FindingsAnswer {
  status?: number;
  json: object;
}

/** What the server answers. */
export function answerOf(rows: readonly Finding[], url: URL, more: object = {}): FindingsAnswer {
  const id = /\/findings\/(.+)$/.exec(url.pathname)?.[1];
  if (id) return detailOf(rows, id);
  const wanted = (name: string, value: string) =>
    !url.searchParams.get(name) || url.searchParams.get(name) === value;
  const state = url.searchParams.get('state') ?? 'open';
  const found = rows.filter(
    (row) => row.state === state && wanted('code', row.code) && wanted('table', nameOf(row)),
  );
  const listed = found.filter((row) => wanted('severity', row.severity));
  const first = Number(url.searchParams.get('cursor') ?? 0);
  const next = first + Number(url.searchParams.get('limit'));
  return {
    json: {
      ...{ rows: listed.slice(first, next), total: listed.length, not_evaluated: 0, notes: [] },
      acknowledged: 0,
      counts: Object.fromEntries(
        SEVERITIES.map((each) => [each, found.filter(({ severity }) => severity === each).length]),
      ),
      next_cursor: next < listed.length ? String(next) : null,
      ...more,
    },
  };
}

function detailOf(rows: readonly Finding[], id: string): FindingsAnswer {
  const finding = rows.find((row) => row.finding_id === id);
  if (!finding)
    return {
      status: 404,
      json: { type: 'not-found', title: 'Not found', status: 404, detail: `unknown finding ${id}` },
    };
  const opened = { seq: 0, at: finding.opened_at, state: 'open', severity: 'warning', closed_by: null };
  const rose = { ...opened, seq: 1, at: finding.opened_at + 60_000, severity: finding.severity };
  const before = repaired({
    finding_id: BEFORE_FINDING,
    opened_at: NOW - 50 * HOUR,
    closed_at: NOW - 48 * HOUR,
  });
  return {
    json: {
      finding,
      history: [opened, rose].map((each) => ({ ...each, evidence: {} })),
      earlier: [],
      seen_before: [before],
    },
  };
}

/** The findings of one table, on its page and in the fleet. */
export async function giveFindings(page: Page, findings: readonly Finding[]): Promise<void> {
  const table = findings[0]?.table;
  await changeAnswer<Timeline>(page, /\/timeline\?.*detail=true/, ({ detail }) => {
    if (detail) Object.assign(detail, { findings });
  });
  await changeAnswer<Detail>(page, /\/api\/v1\/tables\/[^/]+\/[^/]+\/[^/?]+$/, (detail) => {
    Object.assign(detail, { findings });
  });
  await changeAnswer<Fleet>(page, /\/api\/v1\/tables\?/, ({ rows }) => {
    for (const row of rows) if (row.table === table) Object.assign(row, { findings });
  });
}
