// Origins of columns for every scenario: what the server would answer for any table. One column of each kind: taken over,
// masked, written by a MERGE only, and unknown.
import { at, BURST_ID } from './moment.ts';

const LOAD = { run_id: 'load-1', job: 'load_campaigns', t: at('01:45'), snapshot_id: BURST_ID, reads: [] };
const MERGE = {
  ...{ run_id: 'merge-2', job: 'upsert_campaigns', t: at('02:10'), snapshot_id: null },
  reads: ['lake.bronze.cdc'],
};

const source = (field_id: number, column: string, change: object = {}) => ({
  ...{ field_id, column, origins: [], origins_total: 0, masked: null, run_id: null, own_run_id: null },
  ...change,
});

const from = (column: string, from_column: string, masked: boolean) => ({
  origins: [
    {
      ...{ column, from_table: 'wh/bronze/campaigns', table: 'lake.bronze.campaigns', from_column, masked },
      transformation: masked ? 'DIRECT/TRANSFORMATION' : 'DIRECT/IDENTITY',
    },
  ],
  ...{ origins_total: 1, masked, run_id: LOAD.run_id },
});

export function lineageAnswer(url: URL): object | undefined {
  const found = /^\/api\/v1\/tables\/([^/]+)\/([^/]+)\/([^/]+)\/lineage$/.exec(url.pathname);
  if (!found) return undefined;
  const [catalog, namespace, table] = found.slice(1).map(decodeURIComponent);
  return {
    ...{ catalog, namespace, table, format: 'iceberg', status: 'ok', watermark: at('05:59'), notes: [] },
    since: at('00:00') - 8 * 86_400_000,
    columns: [
      source(1, 'id', { ...from('id', 'id', false), own_run_id: MERGE.run_id }),
      source(2, 'email_hash', from('email_hash', 'email', true)),
      source(3, 'event_time', { own_run_id: MERGE.run_id }),
      source(5, 'channel'),
    ],
    runs: [MERGE, LOAD],
  };
}
