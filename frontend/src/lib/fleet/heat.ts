// The fleet over time as a grid: of each table what happened in each part of the range. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { tableLabel, tablePath } from '#lib/api/names.ts';
import { compact, count, NOT_READ, signed } from '#lib/format/count.ts';
import { spanZoned } from '#lib/format/instant.ts';
import { level, type HeatCell, type HeatRow, type Level } from '#lib/ui/heat/heat.ts';
import { SHORT } from './reason.ts';

type Heat = Schemas['FleetHeat'];
type Risk = NonNullable<Schemas['FleetHeatRow']['risk'][number]>;

export const MEASURES = ['files', 'commits', 'alerts', 'risk'] as const;
export type Measure = (typeof MEASURES)[number];

interface Words {
  /** On its button. */
  readonly name: string;
  /** What a cell counts. */
  readonly title: string;
  /** A colour of the design. */
  readonly hue: string;
  readonly say: (value: number) => string;
  readonly of: (row: Heat['rows'][number]) => readonly (number | null)[] | null;
}
/** How dark each reason is, and its word where there is room for six letters. */
const RISKS: Record<Risk, readonly [level: Level, word: string]> = {
  none: [0, ''],
  stale: [1, 'stale'],
  schema_change: [1, 'schema'],
  skew: [2, 'skew'],
  snapshots_many: [2, 'snaps'],
  no_compaction: [2, 'small'],
  delete_growth: [3, 'delete'],
  job_slower: [4, 'job'],
  file_burst: [4, 'burst'],
  unreadable: [4, 'broken'],
};
const plural = (value: number, one: string) => `${count(value)} ${one}${value === 1 ? '' : 's'}`;
export const WORDS: Record<Measure, Words> = {
  files: {
    name: 'Files',
    title: 'change in data files',
    hue: 'var(--series-files)',
    say: (value) => (value === 0 ? 'no change' : `${signed(value)} files`),
    of: (row) => row.data_files,
  },
  commits: {
    name: 'Commits',
    title: 'commits',
    hue: 'var(--series-fresh)',
    say: (value) => plural(value, 'commit'),
    of: (row) => row.commits,
  },
  alerts: {
    name: 'Alerts',
    title: 'alerts that fired',
    hue: 'var(--crit)',
    say: (value) => plural(value, 'alert'),
    of: (row) => row.alerts,
  },
  risk: {
    name: 'Risk',
    title: 'metadata risk, without jobs',
    hue: 'var(--warn)',
    say: String,
    of: () => null,
  },
};

export interface Part {
  /** Epoch ms, half-open. */
  readonly from: number;
  readonly to: number;
  readonly said: string;
}

/** The parts of the range. Once a part, not once a cell: printing an instant is dear. */
export function partsOf({ from, to, rows }: Heat): Part[] {
  const many = rows[0]?.commits.length ?? 0;
  const edge = (i: number) => from + ((to - from) * i) / many;
  return Array.from({ length: many }, (_, i) => ({
    from: edge(i),
    to: edge(i + 1),
    said: spanZoned(edge(i), edge(i + 1)),
  }));
}

/** Levels go by the logarithm: one backfill must not make all else look calm. `most`: the largest number, whichever way
 * it went. */
export function heatOf({ rows }: Heat, measure: Measure, shown: number): { rows: HeatRow[]; most: number } {
  const few = rows.slice(0, shown);
  if (measure === 'risk') return { rows: few.map((row) => rowOf(row, row.risk.map(riskCell))), most: 0 };
  const { say, of } = WORDS[measure];
  const numbers = few.map((row) => of(row) ?? row.commits.map(() => null));
  const most = numbers.flat().reduce<number>((max, each) => Math.max(max, Math.abs(each ?? 0)), 0);
  const cell = (value: number | null): HeatCell => ({
    level: level(value === null ? null : Math.abs(value), most),
    fewer: (value ?? 0) < 0,
    text: value === null ? '' : (measure === 'files' && value > 0 ? '+' : '') + compact(value),
    said: value === null ? NOT_READ : say(value),
  });
  return {
    rows: few.map((row, r) => rowOf(row, (numbers[r] ?? []).map(cell))),
    most,
  };
}

const rowOf = (row: Heat['rows'][number], cells: HeatCell[]): HeatRow => ({
  key: tablePath(row),
  name: tableLabel(row),
  text: tableLabel(row),
  href: tablePath(row),
  cells,
});

function riskCell(code: Risk | null): HeatCell {
  if (code === null) return { level: null, text: '', said: NOT_READ };
  const [shade, text] = RISKS[code];
  return { level: shade, text, said: SHORT[code] || 'nothing stands out' };
}
