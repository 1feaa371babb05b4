// The files of a snapshot for tests: two manifests of a hundred.
import type { Schemas } from '#lib/api/client.ts';

const DATA = 's3://lake/sales/orders/data/day=2026-11-20/';
const METADATA = 's3://lake/sales/orders/metadata/';

const file = (name: string, bytes: number): Schemas['StoredFile'] => ({
  ...{ path: `${DATA}${name}`, content: 'data', bytes, records: 12_000 },
});

export const storageTree = (change: Partial<Schemas['StorageTree']> = {}): Schemas['StorageTree'] => ({
  ...{ snapshot_id: '5184430069070270604', metadata_path: `${METADATA}00007-a.metadata.json` },
  ...{ metadata_bytes: 61_000, list_path: `${METADATA}snap-1.avro`, list_bytes: 9_400 },
  ...{ manifest_count: 100, manifest_bytes: 4e6, files: 1_901, file_bytes: 10.9016e9 },
  manifests: [
    {
      ...{ path: `${METADATA}m0.avro`, content: 'data', spec_id: 0, added_by: '77', bytes: 41_000 },
      ...{ files: 1_840, file_bytes: 10.9e9 },
      largest: [file('big.parquet', 0.92e9), file('small.parquet', 1e6)],
    },
    {
      ...{ path: `${METADATA}m1.avro`, content: 'deletes', spec_id: 0, added_by: null, bytes: 8_000 },
      ...{ files: 1, file_bytes: 1e6 },
      largest: [{ ...file('deletes.parquet', 1e6), content: 'position_deletes' }],
    },
  ],
  largest: [file('big.parquet', 0.92e9), file('small.parquet', 1e6)],
  ...change,
});
