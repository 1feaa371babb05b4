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
