// How each lane looks and speaks: title, colour, height, and how its numbers are printed. Data never come from here.
import { bytes } from '#lib/format/bytes.ts';
import { compact, count, percent, ratio } from '#lib/format/count.ts';
import { duration, seconds } from '#lib/format/duration.ts';
import type { LaneId } from '#lib/api/lane-specs.ts';
import type { Lane } from '#lib/api/lanes.ts';

type Tone = 'job' | 'files' | 'deletes' | 'bytes' | 'fresh' | 'base';

export interface Look {
  readonly title: string;
  /** Under the title: the unit, in words. */
  readonly unit: string;
  readonly tone: Tone;
  /** Pixels of the plot on a wide and on a narrow screen. */
  readonly height: number;
  readonly compactHeight: number;
  readonly print: (value: number | null) => string;
  readonly printTick: (value: number) => string;
  readonly log: boolean;
  /** What one unit of the axis is in the lane's unit, given the most that is drawn. */
  readonly axisUnit: (most: number) => number;
  /** Drawn as an area down to the axis. */
  readonly filled: boolean;
}

const byThousands = (value: number) => bytes(value).replace('.0', '');
const MINUTE = 60;
const TIME_UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [MINUTE, 'm'],
] as const;
const timeUnit = (most: number) => TIME_UNITS.find(([unit]) => most > unit)?.[0] ?? 1;
/** From here on minutes read better than seconds. */
const LONG_JOB = 600;
const jobTime = (value: number | null) =>
  value !== null && Math.abs(value) >= LONG_JOB ? duration(value) : seconds(value);
/** Two digits after the point below ten: most jobs keep a few cores busy, planning takes a part of a second. */
const digits = (value: number | null) =>
  value === null || Math.abs(value) >= 10 ? count(value) : value.toFixed(2);
/** Coarse: whole minutes from two minutes on. */
const age = (value: number | null) =>
  duration(value !== null && value >= 2 * MINUTE ? Math.round(value / MINUTE) * MINUTE : value);
/** One number and one unit: `1 h 30 m` would cover the lane's name. */
function timeTick(value: number): string {
  const found = TIME_UNITS.find(([unit]) => value >= unit && value % (unit / 2) === 0);
  if (found) return `${value / found[0]} ${found[1]}`;
  return value === 0 ? '0' : duration(value);
}

const BASE: Look = {
  title: '',
  unit: '',
  tone: 'base',
  height: 56,
  compactHeight: 48,
  print: count,
  printTick: compact,
  log: false,
  axisUnit: () => 1,
  filled: false,
};
const sizes: Partial<Look> = { print: bytes, printTick: byThousands, tone: 'bytes' };

/** Without a title: its id is one. */
const LOOKS: Readonly<Record<string, Partial<Look>>> = {
  alerts: { unit: 'pending, firing', height: 48 },
  job_duration: {
    unit: 'last run, s',
    tone: 'job',
    height: 120,
    print: jobTime,
    printTick: (value) => (value < LONG_JOB ? compact(value) : duration(value)),
    axisUnit: (most) => (most > 3 * LONG_JOB ? timeUnit(most) : 1),
  },
  job_runs: {
    unit: 'start to end',
    tone: 'job',
    height: 40,
    compactHeight: 36,
  },
  maintenance: { unit: 'lease to commit', height: 40 },
  commits: { unit: 'snapshots', height: 60 },
  schema: { title: 'Schema, spec', unit: 'versions', height: 40, compactHeight: 36 },
  data_files: {
    unit: 'count, Δ',
    tone: 'files',
    height: 100,
    filled: true,
  },
  file_size: { ...sizes, unit: 'p10 to p90', height: 76, log: true },
  delete_files: { unit: 'count', tone: 'deletes', height: 52 },
  freshness: {
    unit: 'since last commit',
    tone: 'fresh',
    print: age,
    printTick: timeTick,
    axisUnit: timeUnit,
    filled: true,
  },
  bytes: { ...sizes, unit: 'live data files', filled: true },
  records: { unit: 'rows in data files', filled: true },
  manifests: { unit: 'count' },
  skew: { title: 'Partition skew', unit: 'largest / median', print: ratio },
  overlap: { unit: 'files on one value' },
  planning: { unit: 'p95, s', print: seconds, printTick: digits },
  query_p95: { unit: 's', print: seconds, printTick: digits },
  skipped_share: { unit: 'of live files', print: percent, printTick: percent },
  read_amplification: {
    unit: 'deletes per file',
    print: digits,
  },
  debt: { title: 'Compaction debt', unit: 'files to rewrite', tone: 'files', filled: true },
  attempts: { unit: 'lost' },
  stream_lag: { unit: 's', print: seconds, printTick: digits },
  slot_lag: { ...sizes, unit: 'kept by the source' },
  cpu: {
    title: 'CPU',
    unit: 'cores busy',
    tone: 'job',
    print: digits,
    filled: true,
  },
  spill: { ...sizes, unit: 'to disk' },
  executors: { unit: 'of the job', tone: 'job' },
  job_memory: { ...sizes, unit: 'in use' },
} satisfies Record<LaneId, Pick<Look, 'unit'> & Partial<Look>>;

/**
 * The look of a lane; one that a newer server invents is drawn plainly, under its own name. `log`: the axis that the
 * reader chose; undefined: the lane's own.
 */
export function lookOf(lane: Pick<Lane, 'id' | 'unit'>, log?: boolean): Look {
  const words = lane.id.replaceAll('_', ' ');
  const plain = { title: words.charAt(0).toUpperCase() + words.slice(1), unit: lane.unit };
  const look = { ...BASE, ...plain, ...LOOKS[lane.id] };
  const logarithmic = log ?? look.log;
  return { ...look, log: logarithmic, unit: logarithmic ? `${look.unit}, log` : look.unit };
}

/** The source of a lane. */
export const SOURCES: Readonly<Record<Lane['source'], string>> = {
  meta: 'Table metadata',
  prometheus: 'Prometheus',
  alertmanager: 'Alertmanager',
  runs: 'Reported runs',
};

/** Whether the reader chose a logarithmic axis for a lane; undefined: nothing was chosen. */
export const chosenLog = (log: readonly string[] | null, lane: string): boolean | undefined =>
  log === null ? undefined : log.includes(lane);
