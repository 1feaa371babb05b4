// The fleet over time as a grid: by how many data files each table changed in each part of the range. Pure; made of the
// rows that the page has anyway.
import type { Schemas } from '#lib/api/client.ts';
import { tableLabel, tablePath } from '#lib/api/names.ts';

type Row = Schemas['TableRow'];

export interface HeatCell {
  /** Epoch ms, half-open. */
  readonly from: number;
  readonly to: number;
  /** Files more, or fewer, at its end than at its beginning; null: not known. */
  readonly change: number | null;
  /** 0: no change, to 4: among the largest of the grid. */
  readonly level: 0 | 1 | 2 | 3 | 4;
}

export interface HeatRow {
  readonly label: string;
  readonly path: string;
  readonly cells: readonly HeatCell[];
}

/** Levels go by the logarithm of the change: one backfill must not make all else look calm. */
export function heatOf(rows: readonly Row[], from: number, to: number): HeatRow[] {
  const changes = rows.map(changesOf);
  const most = changes.flat().reduce<number>((max, each) => Math.max(max, Math.abs(each ?? 0)), 1);
  return rows.map((row, r) => ({
    label: tableLabel(row),
    path: tablePath(row),
    cells: (changes[r] ?? []).map((change, i, all) => ({
      from: from + ((to - from) * i) / all.length,
      to: from + ((to - from) * (i + 1)) / all.length,
      change,
      level: levelOf(change, most),
    })),
  }));
}

/** The spark line has the files at the end of each part; before the first stands what was before the range. */
function changesOf({ spark, values, deltas }: Row): (number | null)[] {
  const before =
    values.data_files === null || deltas.data_files === null ? null : values.data_files - deltas.data_files;
  return spark.map((now, i) => {
    const last = i === 0 ? before : (spark[i - 1] ?? null);
    return now === null || last === null ? null : now - last;
  });
}

function levelOf(change: number | null, most: number): HeatCell['level'] {
  if (change === null || change === 0) return 0;
  return Math.min(4, Math.ceil((4 * Math.log1p(Math.abs(change))) / Math.log1p(most))) as HeatCell['level'];
}
