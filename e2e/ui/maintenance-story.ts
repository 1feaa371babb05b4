// Recommended maintenance for every scenario: what the server would answer for the queue, filtered and paged as it does
// it, and for one table. One row for each rule, names that break out of markup, and values that are not known.
import { at } from './moment.ts';
import { fleetComparison, storageAnswer, tableComparison } from './storage-story.ts';

export interface Estimate {
  low: number;
  mid: number;
  high: number;
}
export interface Plan {
  plan_id: string;
  action: string;
  rule: string;
  because: string[];
  scope: { partitions: string[]; where: string | null };
  predicted: {
    files_in: number | null;
    files_out: number | null;
    bytes_in: number | null;
    bytes_out: number | null;
    bytes_freed: number | null;
    seconds: Estimate | null;
    cost: Estimate | null;
  };
  value: {
    seconds_per_day: { mid: number; basis: string } | null;
    money_per_month: number | null;
    payback_days: number | null;
  };
  guards: { code: string; ok: boolean; text: string }[];
  statements: { spark: string | null; trino: string | null; python: string | null };
}

const NOTHING = {
  ...{ files_in: null, files_out: null, bytes_in: null, bytes_out: null, bytes_freed: null },
  ...{ seconds: null, cost: null },
};
const around = (mid: number): Estimate => ({ low: mid * 0.7, mid, high: mid * 1.6 });

export function plan(change: Partial<Plan> = {}): Plan {
  return {
    ...{ plan_id: '3f1c9a7e5b2d4f60813579bdf02468ac', action: 'rewrite_data_files', rule: 'compact' },
    because: ['small_files', 'file_burst'],
    scope: {
      partitions: ['event_date=2026-11-18', 'event_date=2026-11-19', 'event_date=2026-11-20'],
      where: "event_date >= DATE '2026-11-18' AND event_date < DATE '2026-11-21'",
    },
    predicted: {
      ...{ files_in: 1840, files_out: 22, bytes_in: 11.4e9, bytes_out: 10.9e9, bytes_freed: null },
      ...{ seconds: { low: 240, mid: 390, high: 540 }, cost: { low: 0.08, mid: 0.11, high: 0.19 } },
    },
    value: {
      ...{ money_per_month: 1.65, payback_days: 2 },
      seconds_per_day: { mid: 720, basis: 'measured' },
    },
    guards: [
      { code: 'quiet', ok: true, text: 'No commit touches these partitions.' },
      { code: 'format', ok: true, text: 'All features of the table are supported.' },
      { code: 'reader', ok: false, text: 'Whether a stream reads the table is unknown; run it by hand.' },
    ],
    statements: {
      spark: [
        'CALL lake.system.rewrite_data_files(',
        "  table => 'sales.customer_events',",
        "  where => 'event_date >= DATE ''2026-11-18'' AND event_date < DATE ''2026-11-21''',",
        "  options => map('target-file-size-bytes', '536870912')",
        ')',
      ].join('\n'),
      trino: [
        'ALTER TABLE lake.sales.customer_events EXECUTE optimize',
        "WHERE event_date >= DATE '2026-11-18'",
      ].join('\n'),
      python: null,
    },
    ...change,
  };
}

/** A plan for each rule, the best first. */
const RULES: readonly Partial<Plan>[] = [
  {},
  {
    ...{ rule: 'expire', action: 'expire_snapshots', because: ['snapshots_unbounded'] },
    scope: { partitions: [], where: null },
    predicted: {
      ...NOTHING,
      bytes_freed: 412e9,
      seconds: { low: 20, mid: 70, high: 150 },
      cost: around(0.02),
    },
    value: { seconds_per_day: null, money_per_month: 9.48, payback_days: 0.1 },
  },
  {
    ...{ rule: 'compact_deletes', because: ['delete_files_growing'] },
    value: {
      ...{ money_per_month: 0.4, payback_days: 8.2 },
      seconds_per_day: { mid: 95, basis: 'borrowed' },
    },
  },
  { rule: 'position_deletes', action: 'rewrite_position_delete_files', because: [] },
  {
    ...{ rule: 'manifests', action: 'rewrite_manifests', because: ['manifests_fragmented'] },
    scope: { partitions: [], where: null },
    predicted: { ...NOTHING, files_in: 940, files_out: 12, seconds: around(25), cost: around(0.001) },
    value: { seconds_per_day: null, money_per_month: null, payback_days: null },
  },
  {
    ...{ rule: 'metadata_versions', action: 'set_properties', because: ['metadata_versions_kept'] },
    ...{ scope: { partitions: [], where: null }, predicted: NOTHING, guards: [] },
    value: { seconds_per_day: null, money_per_month: 0.003, payback_days: null },
  },
  {
    ...{ rule: 'orphans', action: 'remove_orphan_files', because: [] },
    scope: { partitions: [], where: null },
    predicted: { ...NOTHING, bytes_freed: 38e9, seconds: around(900), cost: around(0.2) },
  },
  { rule: 'cluster', because: ['filter_not_pruned'], predicted: { ...NOTHING, bytes_in: 2.1e12 } },
  {
    ...{ rule: 'writer', action: 'set_properties', because: ['compaction_ineffective'] },
    ...{ predicted: NOTHING, statements: { spark: null, trino: null, python: null } },
    value: { seconds_per_day: null, money_per_month: null, payback_days: null },
  },
  { rule: 'delta_compact', action: 'optimize' },
  { rule: 'delta_purge', action: 'optimize' },
  { rule: 'delta_vacuum', action: 'vacuum', predicted: { ...NOTHING, bytes_freed: 5e9 } },
  { rule: 'hudi_compact', action: 'compaction', predicted: NOTHING },
];
/** Of the arguments of every plan. */
export const DIGEST = '9f'.repeat(32);
const TABLES = [
  ['sales', 'customer_events'],
  ['sales', 'orders'],
  ['marketing', 'campaign_attribution_touchpoints_daily_by_region_and_channel_v2'],
  ['ops', 'inventory'],
  ['marketing', '<img src=x onerror=owned=1>'],
] as const;

export interface Row {
  catalog: string;
  namespace: string;
  table: string;
  owner: string | null;
  rank: number;
  recommendation: Plan;
  [name: string]: unknown;
}

export const rowsOf = (n: number): Row[] =>
  Array.from({ length: n }, (_, i) => {
    const [namespace, table] = TABLES[i % TABLES.length]!;
    const change = RULES[i % RULES.length]!;
    return {
      ...{ catalog: 'lake', namespace, table, table_uuid: `u-${i % TABLES.length}` },
      ...{ owner: i % 3 ? `${namespace}-platform` : null, rank: i + 1, state: 'proposed' },
      ...{ format: change.rule?.split('_')[0] === 'delta' ? 'delta' : 'iceberg' },
      ...{ seq: 1, arguments_sha256: DIGEST, entered_at: at('05:50'), actor: 'limnograph' },
      evaluated_at: at('05:50'),
      recommendation: plan({ plan_id: i.toString(16).padStart(32, '0'), ...change }),
    };
  });

const known = (names: (string | null)[]) => [...new Set(names.filter((name) => name !== null))].sort();

/** The queue, as the server filters and pages it; `more`: other parts of the answer. */
export function queueAnswer(rows: readonly Row[], query: URLSearchParams, more: object = {}): object {
  const wanted = (name: string, value: string | null) => !query.get(name) || query.get(name) === value;
  const q = query.get('q')?.toLowerCase() ?? '';
  const found = rows.filter(
    ({ catalog, namespace, table, owner, recommendation: { rule, action } }) =>
      wanted('rule', rule) &&
      wanted('action', action) &&
      wanted('owner', owner) &&
      [catalog, namespace, table].join('.').toLowerCase().includes(q),
  );
  const [first, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit') ?? 50)];
  const next = first + limit;
  const sum = (values: (number | null | undefined)[]) =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0);
  return {
    rows: found.slice(first, next),
    counts: { recommended: found.length, not_worth: 9, not_known: 4 },
    totals: {
      saved_per_month: sum(found.map(({ recommendation }) => recommendation.value.money_per_month)),
      cost: sum(found.map(({ recommendation }) => recommendation.predicted.cost?.mid)),
      ...{ held_bytes: 512e9, cost_per_month: 62.3 },
    },
    choices: {
      rules: known(rows.map(({ recommendation }) => recommendation.rule)),
      actions: known(rows.map(({ recommendation }) => recommendation.action)),
      owners: known(rows.map(({ owner }) => owner)),
    },
    ...{ currency: 'USD', prices_as_of: '2026-11-01', prices_are_default: true },
    ...{ evaluated_at: at('05:50'), watermark: at('05:59'), notes: [] },
    next_cursor: next < found.length ? String(next) : null,
    ...more,
  };
}

/** The advice of one table; `advised`: other parts of the advice, `more`: of the answer. */
export const tableAnswer = (advised: object = {}, more: object = {}): object => ({
  advice: {
    ...{ catalog: 'lake', namespace: 'sales', table: 'customer_events', table_uuid: 'u-0' },
    ...{ format: 'iceberg', snapshot_id: '5184430069070270604', status: 'ok', findings: [] },
    recommendations: [plan(), plan({ plan_id: '5a'.repeat(16), ...RULES[1] })],
    not_worth: [
      {
        rule: 'manifests',
        text: 'Saves 0.27 USD a month, costs 0.11 USD and two rewrites of 38 GB.',
      },
    ],
    not_known: [
      { rule: 'orphans', missing: 'no listing of the storage within 7 days' },
      { rule: 'cluster', missing: 'no reads with filters were reported' },
    ],
    bytes: {
      ...{ live: 182e9, held: 412e9, metadata: 0.9e9, by_ref: { audit_2026_q3: 61e9, 'v<1>': 2e9 } },
      by_age: [
        [1, 412e9],
        [2, 371e9],
        [5, 240e9],
        [10, 122e9],
        [30, 14e9],
        [60, 0],
      ],
    },
    cost_per_month: { storage: 4.21, held: 9.48, requests: 1.92, total: 15.61 },
    ...{ currency: 'USD', prices_as_of: '2026-11-01' },
    ...advised,
  },
  ...{ evaluated_at: at('05:50'), writer: 'customer_events_stream', writer_job: 'ingest_customer_events' },
  ...{ problem: null, prices_are_default: true, comparison: tableComparison },
  plans: [
    {
      ...{ plan_id: '77'.repeat(16), action: 'rewrite_data_files', rule: 'compact', state: 'superseded' },
      ...{ at: at('02:10'), predicted: { ...NOTHING, files_in: 1210, files_out: 16 } },
      ...{ seq: 2, arguments_sha256: DIGEST, actor: 'limnograph', problem: null },
    },
  ],
  notes: [],
  ...more,
});

/** What the server says of one plan; `change`: its state and what follows from it. */
export function detailAnswer(planId: string, change: Record<string, unknown> = {}): Record<string, unknown> {
  const recommendation = plan({ plan_id: planId });
  const proposed = {
    ...{ seq: 1, state: 'proposed', at: at('05:50'), attempt: 1, actor: 'limnograph' },
    ...{ reason: null, policy: null, problem: null },
  };
  return {
    ...{ plan_id: planId, ...proposed, proposed_by: 'limnograph', approved_by: null, approved_at: null },
    ...{
      catalog: 'lake',
      namespace: 'sales',
      table: 'customer_events',
      table_uuid: 'u-0',
      format: 'iceberg',
    },
    ...{ action: recommendation.action, rule: recommendation.rule, because: recommendation.because },
    ...{ base_snapshot_id: '5184430069070270604', arguments: '{"action":"rewrite_data_files"}' },
    ...{ arguments_sha256: DIGEST, statement: recommendation.statements.spark },
    ...{ predicted: recommendation.predicted, saved_per_month: 1.65, currency: 'USD', result: null },
    ...{ not_before: null, executor_id: null, application_id: null, can: [] },
    ...{ guards: recommendation.guards, recommendation, history: [proposed], notes: [] },
    ...change,
  };
}

const ROWS = rowsOf(13);

/** What is answered to a question of the API; undefined: it is about something else. */
export function maintenanceAnswer(url: URL): object | undefined {
  if (url.pathname === '/api/v1/maintenance') return queueAnswer(ROWS, url.searchParams);
  if (url.pathname === '/api/v1/maintenance/comparison') return fleetComparison;
  if (url.pathname === '/api/v1/maintenance/breakers') return { breakers: [], can_close: false };
  const [, planId] = /^\/api\/v1\/maintenance\/([0-9a-f]{32})$/.exec(url.pathname) ?? [];
  if (planId) return detailAnswer(planId);
  const [, part] = /^\/api\/v1\/tables\/[^/]+\/[^/]+\/[^/]+\/(maintenance|storage)$/.exec(url.pathname) ?? [];
  if (part === 'storage') return storageAnswer(url.searchParams.get('snapshot_id'));
  return part ? tableAnswer() : undefined;
}
