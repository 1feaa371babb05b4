// Columns of the fleet table: heading, what the server sorts by, what a cell says. Pure.
import type { FleetSort, Schemas } from '#lib/api/client.ts';
import { bytes } from '#lib/format/bytes.ts';
import { brief, count, percent, ratio, signed } from '#lib/format/count.ts';
import { duration, seconds } from '#lib/format/duration.ts';
import { emphasis, type Weight } from './reason.ts';

type Row = Schemas['TableRow'];

interface Cell {
  /** Null: not known. */
  text: string | null;
  weight: Weight;
  /** Beside the number: how much it is of what was. */
  share?: string;
}
export interface Column {
  /** In the address. */
  id: string;
  heading: string;
  /** In the list of columns, and over the heading where that does not say it. */
  title: string;
  sort: FleetSort;
  cell: (row: Row, now: number) => Cell;
  /** Left out on a phone. */
  wide?: boolean;
  /** A difference: against what is said beside its title. */
  delta?: boolean;
  /** Shown by default. */
  usual?: boolean;
}

function cell<T>(value: T | null | undefined, say: (value: T) => string, weight: Weight = ''): Cell {
  return value === null || value === undefined ? { text: null, weight: '' } : { text: say(value), weight };
}

/** `+4,160 %` of what was before; empty where that was nothing or is not known. */
function shareText(now: number | null, delta: number | null): string {
  const share = shareOf(now, delta);
  return share === null || Math.abs(share) < 0.005 ? '' : signed(share, percent);
}

function shareOf(now: number | null, delta: number | null): number | null {
  return now === null || delta === null || now === delta ? null : delta / (now - delta);
}

/** So many of the table's data files; of none there is no share. */
const perFile = (row: Row, files: number | null): number | null =>
  files === null || !row.values.data_files ? null : files / row.values.data_files;

/** `7 m`: seconds matter only in the first minute. */
function age(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  return duration(s < 60 ? Math.round(s) : Math.round(s / 60) * 60);
}

export const COLUMNS: readonly Column[] = [
  {
    id: 'job_p95',
    heading: 'Job p95',
    title:
      '95th-percentile run of the reader that slowed most, over the last sixth of the range (5 min to 1 h)',
    sort: 'job_p95',
    usual: true,
    cell: ({ values }) => cell(values.job_p95_seconds, seconds),
  },
  {
    id: 'delta_job_p95',
    heading: 'Δ p95',
    title: 'Change in the job’s p95',
    sort: 'delta_job_p95',
    ...{ usual: true, wide: true, delta: true },
    cell: (row) => cell(row.deltas.job_p95_ratio, (v) => signed(v - 1, percent), emphasis(row, 'job_slower')),
  },
  {
    id: 'job',
    heading: 'Job median',
    title: 'Median run of the reader that slowed most, over the last sixth of the range (5 min to 1 h)',
    sort: 'job_duration',
    cell: ({ values }) => cell(values.job_duration_seconds, seconds),
  },
  {
    id: 'delta_job',
    heading: 'Δ median',
    title: 'Change in the job’s median run',
    sort: 'delta_job_duration',
    ...{ wide: true, delta: true },
    cell: (row) =>
      cell(row.deltas.job_duration_ratio, (v) => signed(v - 1, percent), emphasis(row, 'job_slower')),
  },
  {
    id: 'files',
    heading: 'Files',
    title: 'Data files',
    sort: 'data_files',
    usual: true,
    cell: ({ values }) => cell(values.data_files, count),
  },
  {
    id: 'delta_files',
    heading: 'Δ files',
    title: 'Change in data files',
    sort: 'delta_data_files',
    ...{ usual: true, delta: true },
    cell: (row) => ({
      ...cell(row.deltas.data_files, (v) => signed(v), emphasis(row, 'file_burst')),
      share: shareText(row.values.data_files, row.deltas.data_files),
    }),
  },
  {
    id: 'delta_share_files',
    heading: 'Δ files %',
    title: 'Change in data files, in percent',
    sort: 'delta_share_data_files',
    ...{ wide: true, delta: true },
    cell: (row) => cell(shareOf(row.values.data_files, row.deltas.data_files), (v) => signed(v, percent)),
  },
  {
    id: 'growth',
    heading: 'Growth',
    title:
      'Largest increase in data files within the time of the growth filter (1 h unless it says otherwise)',
    sort: 'growth',
    cell: ({ growth }) =>
      growth
        ? {
            ...cell(growth.share, (share) => signed(share, percent)),
            ...(growth.share === null && { text: 'from 0' }),
            share: `${count(growth.files_before)} → ${count(growth.files_after)}`,
          }
        : cell(null, count),
  },
  {
    id: 'small',
    heading: 'Small files',
    title: 'Share of data files under the small-file threshold',
    sort: 'small_share',
    ...{ usual: true, wide: true },
    cell: (row) => cell(perFile(row, row.values.small_files), percent, emphasis(row, 'no_compaction')),
  },
  {
    id: 'deletes',
    heading: 'Deletes / file',
    title: 'Delete files per data file',
    sort: 'delete_share',
    ...{ usual: true, wide: true },
    cell: (row) => cell(perFile(row, row.values.delete_files), percent, emphasis(row, 'delete_growth')),
  },
  {
    id: 'delete_files',
    heading: 'Delete files',
    title: 'Delete files',
    sort: 'delete_files',
    wide: true,
    cell: (row) => cell(row.values.delete_files, count, emphasis(row, 'delete_growth')),
  },
  {
    id: 'skew',
    heading: 'Skew',
    title: 'Largest partition / median, by bytes',
    sort: 'skew',
    ...{ usual: true, wide: true },
    cell: (row) => cell(row.values.skew_max_over_median, ratio, emphasis(row, 'skew')),
  },
  {
    id: 'bytes',
    heading: 'Bytes',
    title: 'Bytes of data files',
    sort: 'bytes',
    ...{ usual: true, wide: true },
    cell: ({ values }) => cell(values.bytes, bytes),
  },
  {
    id: 'delta_bytes',
    heading: 'Δ bytes',
    title: 'Change in bytes',
    sort: 'delta_bytes',
    ...{ wide: true, delta: true },
    cell: (row) => ({
      ...cell(row.deltas.bytes, (v) => signed(v, bytes)),
      share: shareText(row.values.bytes, row.deltas.bytes),
    }),
  },
  {
    id: 'records',
    heading: 'Records',
    title: 'Records',
    sort: 'records',
    wide: true,
    cell: ({ values }) => cell(values.records, brief),
  },
  {
    id: 'delta_records',
    heading: 'Δ records',
    title: 'Change in records',
    sort: 'delta_records',
    ...{ wide: true, delta: true },
    cell: (row) => ({
      ...cell(row.deltas.records, (v) => signed(v, brief)),
      share: shareText(row.values.records, row.deltas.records),
    }),
  },
  {
    id: 'file_size',
    heading: 'File size',
    title: 'Median data file size',
    sort: 'file_size_p50',
    wide: true,
    cell: ({ values }) => cell(values.file_size_p50, bytes),
  },
  {
    id: 'manifests',
    heading: 'Manifests',
    title: 'Manifests in the latest snapshot',
    sort: 'manifests',
    wide: true,
    cell: ({ values }) => cell(values.manifests, count),
  },
  {
    id: 'snapshots',
    heading: 'Snapshots',
    title: 'Retained snapshots',
    sort: 'live_snapshots',
    wide: true,
    cell: (row) => cell(row.values.live_snapshots, count, emphasis(row, 'snapshots_many')),
  },
  {
    id: 'planning',
    heading: 'Planning p95',
    title: '95th percentile of the planning times of scans in the last 24 hours, as reported',
    sort: 'planning_p95',
    wide: true,
    cell: ({ reads }) => cell(reads?.planning_p95_seconds, seconds),
  },
  {
    id: 'missed',
    heading: 'Missed partitions',
    title: 'Share of the scans of the last 24 hours that filter no partition column, as reported',
    sort: 'missed_share',
    wide: true,
    cell: ({ reads }) => cell(reads?.missed_share, percent),
  },
  {
    id: 'commits',
    heading: 'Commits',
    title: 'Commits in the range',
    sort: 'commits',
    wide: true,
    cell: ({ values }) => cell(values.commits, count),
  },
  {
    id: 'fresh',
    heading: 'Last commit',
    title: 'Age of the latest commit',
    sort: 'last_commit',
    ...{ usual: true, wide: true },
    cell: (row, now) => cell(row.values.last_committed_at, (at) => age(now - at), emphasis(row, 'stale')),
  },
];

export const USUAL: readonly string[] = COLUMNS.filter(({ usual }) => usual).map(({ id }) => id);

/** Of the address, in the order of the table; what is no column is left out, and without any there are the usual ones. */
export function readColumns(text: string | null): readonly string[] {
  const asked = new Set(text?.split(','));
  const found = COLUMNS.filter(({ id }) => asked.has(id)).map(({ id }) => id);
  return found.length ? found : USUAL;
}

export function writeColumns(ids: readonly string[]): string {
  const shown = COLUMNS.filter(({ id }) => ids.includes(id)).map(({ id }) => id);
  return shown.join() === USUAL.join() ? '' : shown.join();
}
