// The fleet over time as a grid: of each table what happened in each part of the range. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { tableLabel, tablePath } from '#lib/api/names.ts';
import { count, NOT_READ, signed } from '#lib/format/count.ts';
import { level } from '#lib/ui/heat.ts';

type Heat = Schemas['FleetHeat'];

export const MEASURES = ['files', 'commits', 'alerts'] as const;
export type Measure = (typeof MEASURES)[number];

export interface HeatCell {
  /** Epoch ms, half-open. */
  readonly from: number;
  readonly to: number;
  /** Null: not known. */
  readonly value: number | null;
  /** 0: nothing, to 4: among the largest of the grid. */
  readonly level: number;
}

export interface HeatRow {
  readonly label: string;
  readonly path: string;
  readonly cells: readonly HeatCell[];
}

interface Words {
  /** On its button. */
  readonly name: string;
  /** What a cell counts. */
  readonly title: string;
  readonly say: (value: number) => string;
  readonly of: (row: Heat['rows'][number]) => readonly (number | null)[] | null;
}
const plural = (value: number, one: string) => `${count(value)} ${one}${value === 1 ? '' : 's'}`;
export const WORDS: Record<Measure, Words> = {
  files: {
    name: 'Files',
    title: 'data files more or fewer',
    say: (value) => (value === 0 ? 'no change' : `${signed(value)} files`),
    of: (row) => row.data_files,
  },
  commits: {
    name: 'Commits',
    title: 'commits',
    say: (value) => plural(value, 'commit'),
    of: (row) => row.commits,
  },
  alerts: {
    name: 'Alerts',
    title: 'alerts that fired',
    say: (value) => plural(value, 'alert'),
    of: (row) => row.alerts,
  },
};

export const said = (measure: Measure, cell: HeatCell): string =>
  cell.value === null ? NOT_READ : WORDS[measure].say(cell.value);

/** The largest number of all, whichever way it went. */
export const mostOf = (rows: readonly HeatRow[]): number =>
  rows.flatMap(({ cells }) => cells).reduce((most, { value }) => Math.max(most, Math.abs(value ?? 0)), 0);

/** Levels go by the logarithm: one backfill must not make all else look calm. */
export function heatOf({ rows, from, to }: Heat, measure: Measure, shown: number): HeatRow[] {
  const few = rows.slice(0, shown);
  const numbers = few.map((row) => WORDS[measure].of(row) ?? row.commits.map(() => null));
  const most = numbers.flat().reduce<number>((max, each) => Math.max(max, Math.abs(each ?? 0)), 1);
  return few.map((row, r) => ({
    label: tableLabel(row),
    path: tablePath(row),
    cells: (numbers[r] ?? []).map((value, i, all) => ({
      from: from + ((to - from) * i) / all.length,
      to: from + ((to - from) * (i + 1)) / all.length,
      value,
      level: level(value === null ? 0 : Math.abs(value), most) ?? 0,
    })),
  }));
}
