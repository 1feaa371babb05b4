// A page of columns as the server returns it: a null share that jumped, a private column, a text without bounds.
import type { Schemas } from '#lib/api/client.ts';

export const NOW = Date.UTC(2026, 10, 21, 6);
const HOUR = 3_600_000;

const point = (hour: number, nulls: number | null, bounded = true): Schemas['ColumnPoint'] => ({
  ...{ t: NOW - (24 - hour) * HOUR, snapshot_id: `51844300690702706${10 + hour}`, values: 1000, nulls },
  ...{ null_share: nulls === null ? null : nulls / 1000, nan_share: null },
  ...(bounded ? { lower: -1.5 * hour, upper: 10 * hour } : { lower: null, upper: null }),
});

export const column = (change: Partial<Schemas['ColumnSeries']> = {}): Schemas['ColumnSeries'] => ({
  ...{ id: 1, name: 'amount', type: 'double', values: 24_000, nulls: 1230, null_share: 0.05125 },
  ...{ nans: 24, nan_share: 0.001, lower: '-34.5', upper: '230.0', bounds: 'shown', distinct: 812 },
  points: Array.from({ length: 24 }, (_, hour) => point(hour, hour < 20 ? 10 : 400)),
  ...change,
});

export const columnsPage = (change: Partial<Schemas['ColumnsPage']> = {}): Schemas['ColumnsPage'] => ({
  ...{ catalog: 'lake', namespace: 'sales', table: 'orders', format: 'iceberg', status: 'ok' },
  ...{ watermark: NOW, notes: [], range: { start: NOW - 24 * HOUR, end: NOW }, commits: 24, step_s: null },
  columns: [
    column({
      ...{ id: 2, name: 'customer_email', type: 'string', nulls: 0, null_share: 0, nans: null },
      ...{ nan_share: null, lower: null, upper: null, bounds: 'private', distinct: null },
      points: Array.from({ length: 24 }, (_, hour) => point(hour, 0, false)),
    }),
    column(),
    column({
      ...{ id: 3, name: 'country', type: 'string', nulls: null, null_share: null, nans: null },
      ...{ nan_share: null, lower: null, upper: null, bounds: 'text', distinct: null },
      points: Array.from({ length: 24 }, (_, hour) => point(hour, null, false)),
    }),
  ],
  not_known: null,
  ...change,
});
