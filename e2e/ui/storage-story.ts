// The files of a snapshot and the comparison of costs for every scenario: what the server would answer.
import { at, BURST_ID } from './moment.ts';

const FOLDER = 's3://warehouse/sales/customer_events';

interface File {
  path: string;
  content: string;
  bytes: number;
  records: number;
}

const dataFile = (day: number, i: number, bytes: number): File => ({
  path: `${FOLDER}/data/event_date=2026-11-${day}/00${100 + i}-${i}-7c1f0e52-3a5d-4a34-9a8e-00001.parquet`,
  ...{ content: 'data', bytes, records: Math.round(bytes / 96) },
});

const manifest = (i: number, files: number, bytes: number, deletes = false) => ({
  path: `${FOLDER}/metadata/6f5c8a1d-1c55-4b1e-9d0c-m${i}.avro`,
  ...{ content: deletes ? 'deletes' : 'data', spec_id: 0, added_by: BURST_ID, bytes: 41_000 + 97 * i },
  ...{ files, file_bytes: bytes },
  largest: Array.from({ length: Math.min(5, files) }, (_, j) => ({
    ...dataFile(20 - (i % 8), j, (bytes / files) * (1.6 - j / 10)),
    ...(deletes && { content: 'position_deletes' }),
  })),
});

const MANIFESTS = [
  manifest(0, 50_000, 61e9),
  ...Array.from({ length: 98 }, (_, i) => manifest(i + 1, 118 - i, 1.9e9 - 17e6 * i)),
  manifest(99, 3, 2.1e6, true),
];
const sum = (of: (each: (typeof MANIFESTS)[number]) => number) =>
  MANIFESTS.reduce((total, each) => total + of(each), 0);
const OTHER = { manifests: 42, files: 311, bytes: 96e6 };

const TREE = {
  ...{ metadata_path: `${FOLDER}/metadata/00412-0a9d7c1e.metadata.json`, metadata_bytes: 1.31e6 },
  ...{ list_path: `${FOLDER}/metadata/snap-5184430069070270604-1-6f5c8a1d.avro`, list_bytes: 38_400 },
  ...{ manifest_count: MANIFESTS.length + OTHER.manifests, manifest_bytes: 7.4e6 },
  ...{ files: sum(({ files }) => files) + OTHER.files },
  ...{ file_bytes: sum(({ file_bytes }) => file_bytes) + OTHER.bytes, manifests: MANIFESTS },
  largest: [
    ...Array.from({ length: 18 }, (_, i) => dataFile(20 - (i % 5), i, 512e6 - 11e6 * i)),
    { ...dataFile(19, 18, 8e6), content: 'deletion_vector', records: 1 },
    { path: `${FOLDER}/data/<img src=x onerror=owned=1>.parquet`, content: 'data', bytes: 7e6, records: 12 },
  ],
};

const BYTES = {
  ...{ live: 182e9, held: 412e9, metadata: 0.9e9, by_ref: { audit_2026_q3: 61e9, 'v<1>': 2e9 } },
  by_age: [],
};

/** `more`: other parts of the answer. */
export const storageAnswer = (snapshotId: string | null, more: object = {}): object => ({
  ...{ catalog: 'lake', namespace: 'sales', table: 'customer_events', format: 'iceberg', status: 'ok' },
  ...{ watermark: at('05:59'), notes: [], read_at: at('05:59'), bytes: BYTES, bytes_missing: null },
  ...{ tree: { snapshot_id: snapshotId ?? BURST_ID, ...TREE }, tree_missing: null },
  ...more,
});

const PRICES = {
  ...{ currency: 'USD', storage_gb_month: 0.023, put_1000: 0.005, get_1000: 0.0004, vcpu_hour: 0.05 },
  ...{ as_of: '2026-11-01', is_default: true },
};

/** Rows are computed in the browser. */
export const tableComparison = {
  load: { live_files: 51_840, compacted_files: 410, reads_per_day: 24 },
  ...{ prices: PRICES, rows: [] },
};

export const fleetComparison = {
  ...{ tables: 13, bytes_known: 12, reads_known: 4, live_bytes: 410e9, held_bytes: 512e9 },
  ...{ metadata_bytes: 2.1e9, opened_per_day: 1_402_000, compacted_per_day: 61_000 },
  ...{ prices: PRICES, rows: [] },
};
