// A schema page as the server answers it: a column was renamed, before that a spec came.
import type { Schemas } from '#lib/api/client.ts';

const RENAMED = Date.UTC(2026, 10, 21, 1, 42);

export const version = (change: Partial<Schemas['StructureVersion']> = {}): Schemas['StructureVersion'] => ({
  kind: 'schema',
  id: '13',
  previous_id: '12',
  t: RENAMED,
  not_before: RENAMED - 60_000,
  first: false,
  risk: 'breaking',
  sentence: '1 change',
  changes: [
    {
      field_id: 2,
      name: 'user_id',
      kind: 'renamed',
      before: 'uid',
      after: 'user_id',
      risk: 'breaking',
      sentence: 'uid was renamed to user_id; its field id is still 2',
    },
  ],
  fields: [],
  schema_id: '13',
  spec_id: '2',
  sort_order_id: '0',
  ...change,
});

const SPEC = version({
  kind: 'spec',
  id: '2',
  previous_id: '1',
  t: RENAMED - 86_400_000,
  risk: 'safe',
  sentence: 'Partitioned by day(event_time)',
  changes: [],
  fields: [{ name: 'dt', transform: 'day', column: 'event_time', source_id: 3, order: null }],
});

export const schemaPage = (change: Partial<Schemas['SchemaPage']> = {}): Schemas['SchemaPage'] => ({
  catalog: 'lake',
  namespace: 'sales',
  table: 'customer_events',
  format: 'iceberg',
  status: 'ok',
  watermark: RENAMED + 3_600_000,
  notes: [],
  schema_id: '13',
  spec_id: '2',
  sort_order_id: '0',
  versions: [
    version(),
    SPEC,
    version({
      id: '12',
      previous_id: null,
      first: true,
      risk: 'safe',
      changes: [],
      sentence: 'First seen, 2 fields',
    }),
  ],
  matrix_versions: [
    { schema_id: '12', t: RENAMED - 2 * 86_400_000 },
    { schema_id: '13', t: RENAMED },
  ],
  matrix: [
    {
      field_id: 1,
      name: 'id',
      spans: [{ first: 0, versions: 2, name: 'id', type: 'long', required: true, doc: null }],
    },
    {
      field_id: 2,
      name: 'user_id',
      spans: [
        { first: 0, versions: 1, name: 'uid', type: 'string', required: false, doc: null },
        { first: 1, versions: 1, name: 'user_id', type: 'string', required: false, doc: null },
      ],
    },
  ],
  ...change,
});

/** A column that was copied, one that was masked, one that a MERGE wrote, and one of which no run says anything. */
export const lineagePage = (change: Partial<Schemas['LineagePage']> = {}): Schemas['LineagePage'] => {
  const origin = { from_table: 'wh/bronze/raw', table: 'lake.bronze.raw', transformation: 'DIRECT/IDENTITY' };
  const source = (
    field_id: number,
    column: string,
    more: Partial<Schemas['ColumnSource']> = {},
  ): Schemas['ColumnSource'] => ({
    ...{ field_id, column, origins: [], origins_total: 0, masked: null, run_id: null, own_run_id: null },
    ...more,
  });
  const from = (column: string, from_column: string, masked: boolean) => ({
    origins: [{ ...origin, column, from_column, masked }],
    origins_total: 1,
    masked,
    run_id: 'load-1',
  });
  return {
    ...{ catalog: 'lake', namespace: 'sales', table: 'customer_events', format: 'iceberg', status: 'ok' },
    watermark: RENAMED + 3_600_000,
    notes: [],
    since: RENAMED - 8 * 86_400_000,
    columns: [
      source(1, 'id', { ...from('id', 'id', false), own_run_id: 'merge-2' }),
      source(2, 'email_hash', from('email_hash', 'email', true)),
      source(3, 'amount', { own_run_id: 'merge-2' }),
      source(4, 'note'),
    ],
    runs: [
      { run_id: 'merge-2', job: 'upsert', t: RENAMED, snapshot_id: null, reads: ['lake.bronze.cdc'] },
      { run_id: 'load-1', job: 'load', t: RENAMED - 60_000, snapshot_id: '5184430069070270604', reads: [] },
    ],
    ...change,
  };
};
