// Columns of the fleet table: heading, what the server sorts by, what a cell says. Pure.
import type { FleetSort, Schemas } from '#lib/api/client.ts';
import { bytes } from '#lib/format/bytes.ts';
import { count, NOT_READ, percent, signed } from '#lib/format/count.ts';
import { duration, seconds } from '#lib/format/duration.ts';
import { emphasis, type Weight } from './reason.ts';

type Row = Schemas['TableRow'];

interface Cell {
  text: string;
  weight: Weight;
  known: boolean;
  /** Beside the number: how much it is of what was. */
  share?: string;
}
export interface Column {
  heading: string;
  /** What the heading means, where it does not say it. */
  title?: string;
  sort: FleetSort;
  cell: (row: Row, now: number) => Cell;
  /** Left out on a phone. */
  wide?: boolean;
}

function cell<T>(value: T | null | undefined, say: (value: T) => string, weight: Weight = ''): Cell {
  if (value === null || value === undefined) return { text: NOT_READ, weight: '', known: false };
  return { text: say(value), weight, known: true };
}

/** `+4,160 %` of what was before; empty where that was nothing or is not known. */
function shareOf(now: number | null, delta: number | null): string {
  if (now === null || delta === null || delta === 0 || now === delta) return '';
  const share = delta / (now - delta);
  return Math.abs(share) < 0.005 ? '' : signed(share, percent);
}

function smallShare(row: Row): number | null {
  const { small_files: small, data_files: all } = row.values;
  return small === null || all === null || all === 0 ? null : small / all;
}

/** `7 m`: seconds matter only in the first minute. */
function age(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  return duration(s < 60 ? Math.round(s) : Math.round(s / 60) * 60);
}

export const COLUMNS: readonly Column[] = [
  {
    heading: 'Job',
    title: 'Duration of the newest run of the job that reads the table',
    sort: 'job_duration',
    cell: ({ values }) => cell(values.job_duration_seconds, seconds),
  },
  {
    heading: 'Δ job',
    wide: true,
    title: 'Change of the job duration over the range',
    sort: 'delta_job_duration',
    cell: (row) =>
      cell(row.deltas.job_duration_ratio, (v) => signed(v - 1, percent), emphasis(row, 'job_slower')),
  },
  { heading: 'Files', sort: 'data_files', cell: ({ values }) => cell(values.data_files, count) },
  {
    heading: 'Δ files',
    title: 'Change of the data files over the range',
    sort: 'delta_data_files',
    cell: (row) => ({
      ...cell(row.deltas.data_files, (v) => signed(v), emphasis(row, 'file_burst')),
      share: shareOf(row.values.data_files, row.deltas.data_files),
    }),
  },
  {
    heading: 'Small',
    title: 'Share of data files under the small-file threshold; sorted by their number',
    sort: 'small_files',
    wide: true,
    cell: (row) => cell(smallShare(row), percent, emphasis(row, 'no_compaction')),
  },
  {
    heading: 'Deletes',
    title: 'Delete files',
    sort: 'delete_files',
    wide: true,
    cell: (row) => cell(row.values.delete_files, count, emphasis(row, 'delete_growth')),
  },
  { heading: 'Bytes', sort: 'bytes', wide: true, cell: ({ values }) => cell(values.bytes, bytes) },
  {
    heading: 'Commits',
    title: 'Commits in the range',
    sort: 'commits',
    wide: true,
    cell: ({ values }) => cell(values.commits, count),
  },
  {
    heading: 'Fresh',
    title: 'Age of the newest commit',
    sort: 'last_commit',
    wide: true,
    cell: (row, now) => cell(row.values.last_committed_at, (at) => age(now - at), emphasis(row, 'stale')),
  },
];
