// How each lane looks and speaks: title, colour, height, and how its numbers are printed. Data never come from here.
import { bytes } from '#lib/format/bytes.ts';
import { compact, count, ratio } from '#lib/format/count.ts';
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
  /** A difference's size; default `print`. */
  readonly printChange: (size: number) => string;
  readonly printTick: (value: number) => string;
  readonly log: boolean;
  /** What one unit of the axis is in the lane's unit, given the most that is drawn. */
  readonly axisUnit: (most: number) => number;
  /** Drawn as an area down to the axis. */
  readonly filled: boolean;
  /** What to add when the lane is absent. */
  readonly absent: string;
}

const NEEDS_PROMETHEUS = 'No job metrics for this table. Add [prometheus] and a job to the settings.';
const NEEDS_RUNS = 'No job runs for this table. Report them with limnograph.spark_metrics.';
const NEEDS_ALERTS = 'No alerts received yet. Point the Alertmanager webhook at /api/v1/alertmanager.';
const NEEDS_SIGNAL = 'No data. Let Prometheus scrape the Spark job, or set a query in [[jobs]].';
const NEEDS_SPILL = 'No data. Set a spill query in [[jobs]].';
const NEEDS_ENTRIES = 'Not computed yet for this table.';
const byThousands = (value: number) => (value < 1000 ? bytes(value) : bytes(value).replace('.0', ''));
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const TIME_UNITS = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'm'],
] as const;
const timeUnit = (most: number) => (most > DAY ? DAY : most > HOUR ? HOUR : most > MINUTE ? MINUTE : 1);
/** From here on minutes read better than seconds. */
const LONG_JOB = 600;
const jobTime = (value: number | null) =>
  value !== null && Math.abs(value) >= LONG_JOB ? duration(value) : seconds(value);
/** Two digits after the point below ten: most jobs keep a few cores busy. */
const cores = (value: number | null) =>
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
  printChange: count,
  printTick: compact,
  log: false,
  axisUnit: () => 1,
  filled: false,
  absent: NEEDS_ENTRIES,
};
const sizes: Partial<Look> = { print: bytes, printChange: bytes, printTick: byThousands, tone: 'bytes' };

const LOOKS: Readonly<Record<string, Partial<Look>>> = {
  alerts: { title: 'Alerts', unit: 'pending, firing', height: 48, absent: NEEDS_ALERTS },
  job_duration: {
    title: 'Job duration',
    unit: 'last run, s',
    tone: 'job',
    height: 120,
    print: jobTime,
    printChange: jobTime,
    printTick: (value) => (value < LONG_JOB ? compact(value) : duration(value)),
    axisUnit: (most) => (most > 3 * LONG_JOB ? timeUnit(most) : 1),
    absent: NEEDS_PROMETHEUS,
  },
  job_runs: {
    title: 'Job runs',
    unit: 'start to end',
    tone: 'job',
    height: 40,
    compactHeight: 36,
    absent: NEEDS_RUNS,
  },
  commits: { title: 'Commits', unit: 'snapshots', height: 60 },
  schema: { title: 'Schema, spec', unit: 'versions', height: 40, compactHeight: 36 },
  data_files: {
    title: 'Data files',
    unit: 'count, Δ',
    tone: 'files',
    height: 100,
    filled: true,
  },
  file_size: { ...sizes, title: 'File size', unit: 'p10 to p90', height: 76, log: true },
  delete_files: { title: 'Delete files', unit: 'count', tone: 'deletes', height: 52 },
  freshness: {
    title: 'Freshness',
    unit: 'since last commit',
    tone: 'fresh',
    print: age,
    printChange: age,
    printTick: timeTick,
    axisUnit: timeUnit,
    filled: true,
  },
  bytes: { ...sizes, title: 'Bytes', unit: 'live data files', filled: true },
  records: { title: 'Records', unit: 'rows in data files', tone: 'base', filled: true },
  manifests: { title: 'Manifests', unit: 'count', tone: 'base' },
  skew: { title: 'Partition skew', unit: 'largest / median', print: ratio, printChange: ratio },
  debt: { title: 'Compaction debt', unit: 'files to rewrite', tone: 'files', filled: true },
  cpu: {
    title: 'CPU',
    unit: 'cores busy',
    tone: 'job',
    print: cores,
    printChange: cores,
    filled: true,
    absent: NEEDS_SIGNAL,
  },
  spill: { ...sizes, title: 'Spill', unit: 'to disk', absent: NEEDS_SPILL },
  executors: { title: 'Executors', unit: 'of the job', tone: 'job', absent: NEEDS_SIGNAL },
} satisfies Record<LaneId, Pick<Look, 'title' | 'unit'> & Partial<Look>>;

/**
 * The look of a lane; one that a newer server invents is drawn plainly, under its own name. `log`: the axis that the
 * reader chose; undefined: the lane's own.
 */
export function lookOf(lane: Pick<Lane, 'id' | 'unit'>, log?: boolean): Look {
  const words = lane.id.replaceAll('_', ' ');
  const plain = { title: words.charAt(0).toUpperCase() + words.slice(1), unit: lane.unit };
  const look = { ...BASE, ...(LOOKS[lane.id] ?? plain) };
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
