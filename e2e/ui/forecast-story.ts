// Forecasts for every scenario: what the server would answer for the list, filtered and paged as it does it, and for one
// table. One row for each state and each reason, and values that are not known.
import { at, NOW } from './moment.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const STATES = ['at_risk', 'red', 'cannot_say', 'not_at_risk'] as const;
export const AS_OF = at('05:00');

export interface Risk {
  catalog: string;
  namespace: string;
  table: string;
  table_uuid: string;
  owner: string | null;
  metric: string;
  state: (typeof STATES)[number];
  [name: string]: unknown;
}

/** Small files of a table whose compaction stopped. */
export function risk(change: Partial<Risk> = {}): Risk {
  return {
    ...{ catalog: 'lake', namespace: 'sales', table: 'customer_events', table_uuid: 'u-1' },
    ...{ owner: 'sales-platform', metric: 'small_files', job_name: null, state: 'at_risk' },
    ...{ as_of: AS_OF, hours: 168, threshold: 10_000, level: 4_300, p10: 8_900, p50: 11_400, p90: 14_200 },
    ...{ p_cross: 0.72, p_cross_if_maintained: 0.11 },
    ...{ crosses_from: AS_OF + 3 * DAY, crosses_to: AS_OF + 5.4 * DAY, driver: 'small_files' },
    ...{ growth_per_day: 1_900, usual_drop_hours: 24, last_drop_hours: 84, abstained: null },
    ...{ readers: 3, finding_id: null },
    ...change,
  };
}

const unknown = {
  ...{ p10: null, p50: null, p90: null, p_cross: null, p_cross_if_maintained: null },
  ...{ crosses_from: null, crosses_to: null, driver: null },
};
const other = (table: string, change: Partial<Risk>) => risk({ table, table_uuid: `u-${table}`, ...change });

export const RISKS: readonly Risk[] = [
  risk(),
  risk({
    ...{ metric: 'total_delete_files', threshold: 3, level: 1, p10: 2, p50: 3, p90: 5, p_cross: 0.58 },
    ...{ growth_per_day: 0.4, usual_drop_hours: null, last_drop_hours: null, driver: 'total_delete_files' },
    p_cross_if_maintained: null,
  }),
  other('carts', {
    ...{
      metric: 'reader_seconds',
      job_name: 'daily_revenue',
      threshold: 900,
      level: 610,
      p10: 700,
      p50: 930,
    },
    ...{ p90: 1_240, p_cross: 0.55, p_cross_if_maintained: 0.5, driver: 'total_bytes', growth_per_day: 21 },
    ...{ usual_drop_hours: null, last_drop_hours: null, readers: 1, owner: null },
  }),
  // the list keeps what it warned of until it is below three of ten
  other('orders', {
    ...{ metric: 'manifests', threshold: 500, level: 320, p10: 300, p50: 410, p90: 520, p_cross: 0.36 },
    ...{ crosses_from: null, crosses_to: null, p_cross_if_maintained: 0.02, growth_per_day: 18 },
    ...{ usual_drop_hours: 168, last_drop_hours: 170, driver: 'manifests', readers: null },
  }),
  other('inventory', {
    ...{ namespace: 'ops', state: 'red', level: 12_300, p_cross: 1, crosses_from: null, crosses_to: null },
    p_cross_if_maintained: 0.2,
  }),
  ...['short_history', 'missing', 'stale', 'regime_change', 'unpredictable'].map((abstained, i) =>
    other(`young_${i}`, { ...unknown, state: 'cannot_say', abstained, namespace: 'marketing' }),
  ),
  other('campaigns', {
    ...{ namespace: 'marketing', state: 'not_at_risk', p_cross: 0.04, crosses_from: null, crosses_to: null },
    ...{ metric: 'metadata_bytes', threshold: 50e6, level: 4.1e6, p10: 4e6, p50: 4.4e6, p90: 5.2e6 },
    ...{ growth_per_day: 40_000, usual_drop_hours: 24, last_drop_hours: 10, driver: 'live_snapshots' },
  }),
];

export const RECORD = {
  ...{ since: NOW - 60 * DAY, warnings: 51, came_true: 31, did_not: 9, acted_upon: 4, pending: 7 },
  ...{ median_notice_hours: 37, not_foreseen: 12 },
};
export const NO_RECORD = {
  ...{ since: null, warnings: 0, came_true: 0, did_not: 0, acted_upon: 0, pending: 0 },
  ...{ median_notice_hours: null, not_foreseen: 0 },
};
export const SIZE = {
  ...{ hours: 720, bytes_now: 1.21e12, bytes_p10: 1.3e12, bytes_p50: 1.45e12, bytes_p90: 1.7e12 },
  ...{ cost_now: 27.8, cost_p10: 29.9, cost_p50: 33.3, cost_p90: 39.1, currency: 'USD' },
  ...{ tables: 11, tables_known: 12 },
};

const nameOf = ({ catalog, namespace, table }: Risk) => [catalog, namespace, table].join('.');

/** What the server answers to a question for the list. */
export function risksAnswer(rows: readonly Risk[], params: URLSearchParams, more: object = {}): object {
  const wanted = (name: string, value: string | null) => !params.get(name) || params.get(name) === value;
  const found = rows.filter(
    (row) => wanted('metric', row.metric) && wanted('owner', row.owner) && wanted('table', nameOf(row)),
  );
  const state = params.get('state');
  const listed = found.filter((row) => (state ? row.state === state : row.state !== 'not_at_risk'));
  const first = Number(params.get('cursor') ?? 0);
  const next = first + Number(params.get('limit') ?? 50);
  return {
    rows: listed.slice(first, next),
    counts: Object.fromEntries(
      STATES.map((each) => [each, found.filter((row) => row.state === each).length]),
    ),
    ...{
      budget: 10,
      track_record: RECORD,
      bytes: SIZE,
      as_of: AS_OF,
      model: 'shipped-1920-tables',
      notes: [],
    },
    next_cursor: next < listed.length ? String(next) : null,
    ...more,
  };
}

const point = (days: number, p10: number, p50: number, p90: number) => ({
  ...{ at: AS_OF + days * DAY, p10, p50, p90 },
});

export const FANS = [
  {
    ...{ metric: 'small_files', job_name: null, lane: null, threshold: 10_000, abstained: null },
    points: [point(0, 4_300, 4_300, 4_300), point(1, 5_600, 6_200, 6_900), point(7, 8_900, 11_400, 14_200)],
    last_drops: [AS_OF - 5.5 * DAY, AS_OF - 4.5 * DAY, AS_OF - 3.5 * DAY],
  },
  {
    ...{ metric: 'total_delete_files', job_name: null, lane: 'delete_files', threshold: 3, abstained: null },
    points: [point(0, 1, 1, 1), point(1, 1, 1.4, 2), point(7, 2, 3, 5), point(30, 3, 7, 14)],
    last_drops: [AS_OF - 2 * DAY],
  },
];

/** What the server answers for one table. */
export const tableRisksAnswer = (more: object = {}): object => ({
  ...{ as_of: AS_OF, fans: FANS, track_record: RECORD, bytes: { ...SIZE, tables: 1, tables_known: 1 } },
  rows: [
    ...RISKS.filter(({ table }) => table === 'customer_events'),
    risk({ ...unknown, metric: 'manifests', state: 'cannot_say', abstained: 'unpredictable', level: 44 }),
    risk({ metric: 'live_snapshots', state: 'not_at_risk', p_cross: 0.02, threshold: 5_000, level: 310 }),
  ],
  ...{ model: 'shipped-1920-tables', notes: [] },
  ...more,
});

/** Answers for every page that shows forecasts; undefined: the question is about something else. */
export function forecastAnswer(url: URL): object | undefined {
  if (url.pathname === '/api/v1/forecasts') return risksAnswer(RISKS, url.searchParams);
  return /^\/api\/v1\/tables\/[^/]+\/[^/]+\/[^/]+\/forecast$/.test(url.pathname)
    ? tableRisksAnswer()
    : undefined;
}
