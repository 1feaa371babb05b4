// One lane as rows: instants and values, commits, or spans of a state. The caller says how instants and numbers are written.
import type { LaneId } from '#lib/api/lane-specs.ts';
import { csv } from '#lib/format/csv.ts';
import { iso } from '#lib/format/instant.ts';
import { isSeries, medianOf, type Answer, type Lane, type SeriesLane, type Value } from '#lib/api/lanes.ts';

type Cell = string | number | null;

export interface Records {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface CellWriter {
  readonly time: (at: number) => string;
  /** A value of the lane, in its unit. */
  readonly value: (value: Value) => Cell;
  /** A count of something else than the lane's unit. */
  readonly count: (value: Value) => Cell;
  readonly id: (snapshotId: string) => string;
}

/**
 * As programs read it: instants in UTC, numbers as they are, an empty cell where nothing is known. A word before an id, so
 * that no spreadsheet takes it for a number and rounds it.
 */
const RAW: CellWriter = {
  time: iso,
  value: (value) => value,
  count: (value) => value,
  id: (snapshotId) => snapshotId && `id ${snapshotId}`,
};

const BANDS: Readonly<Record<string, readonly string[]>> = {
  file_size: ['p10', 'p50', 'p90'],
} satisfies Partial<Record<LaneId, readonly string[]>>;
const EXTREMES = ['least', 'last', 'most'];

/** Columns of a series by their headings. */
function columnsOf(lane: SeriesLane): [title: string, column: readonly Value[]][] {
  if (lane.kind === 'band') {
    const [low, middle, high] = BANDS[lane.id] ?? EXTREMES;
    const median = medianOf(lane);
    return [
      [low as string, lane.lo],
      [middle as string, lane.mid],
      [high as string, lane.hi],
      ...(median ? [['median', median] as [string, readonly Value[]]] : []),
    ];
  }
  const extremes =
    lane.min && lane.max
      ? ([
          ['least', lane.min],
          ['most', lane.max],
        ] as const)
      : [];
  return [
    ['value', lane.v],
    ...extremes.map(([title, column]): [string, readonly Value[]] => [title, column]),
  ];
}

export function recordsOf(answer: Answer, lane: Lane, write: CellWriter = RAW): Records {
  if (isSeries(lane)) {
    const columns = columnsOf(lane);
    return {
      head: ['time', ...columns.map(([title]) => (lane.unit ? `${title} (${lane.unit})` : title))],
      rows: answer.t.map((at, i) => [
        write.time(at),
        ...columns.map(([, column]) => write.value(column[i] ?? null)),
      ]),
    };
  }
  if (lane.kind === 'events')
    return {
      head: [
        'time',
        'operation',
        'snapshot',
        'files added',
        'files removed',
        'delete files added',
        'application',
        'expired',
      ],
      rows: lane.events.map((commit) => [
        write.time(commit.t),
        commit.operation,
        write.id(commit.snapshot_id),
        write.count(commit.added_data_files),
        write.count(commit.removed_data_files),
        write.count(commit.added_delete_files),
        commit.app_id,
        commit.expired === null ? null : commit.expired ? 'yes' : 'no',
      ]),
    };
  return {
    head: ['from', 'until', 'name', 'state', 'detail'],
    rows: lane.bars.map(({ start, end, label, state, detail }) => [
      start === null ? null : write.time(start),
      end === null ? null : write.time(end),
      label,
      state,
      detail,
    ]),
  };
}

/** A lane as a file's text. */
export function csvOfLane(answer: Answer, lane: Lane): string {
  const { head, rows } = recordsOf(answer, lane);
  return csv([head, ...rows]);
}
