// What forecasts are about: metrics, states, reasons, and how their values are printed. Pure.
import { bytes } from '#lib/format/bytes.ts';
import { count, ratio } from '#lib/format/count.ts';
import { duration } from '#lib/format/duration.ts';
import type { Schemas } from '#lib/api/client.ts';
import { tablePath, type TableRef } from '#lib/api/names.ts';
import type { IconName } from '#lib/ui/icons.ts';

export type RiskRow = Schemas['RiskRow'];
export type ForecastFan = Schemas['ForecastFan'];
export type TrackRecord = Schemas['TrackRecord'];
export type BytesForecast = Schemas['BytesForecast'];
export type RiskState = RiskRow['state'];
export type ForecastMetric = RiskRow['metric'];
type ForecastDriver = NonNullable<RiskRow['driver']>;
type AbstainReason = NonNullable<RiskRow['abstained']>;

interface MetricWords {
  /** `Small files`, as a sentence begins with it. */
  readonly name: string;
  /** The name is a plural. */
  readonly many: boolean;
  readonly print: (value: number | null) => string;
  /** What brings the level down: `compaction`. Null: no single action. */
  readonly cure: string | null;
}

/** Two digits below ten: a share of deletes is small. */
const fraction = (value: number | null): string =>
  value === null || Math.abs(value) >= 10 ? count(value) : String(Number(value.toFixed(2)));
const tenths = (value: number | null): string =>
  value === null || Math.abs(value) >= 100 ? count(value) : String(Number(value.toFixed(1)));
const rounded = (value: number | null): string =>
  duration(value !== null && value >= 120 ? Math.round(value / 10) * 10 : value);

const METRICS: Record<ForecastMetric, MetricWords> = {
  small_files: { name: 'Small files', many: true, print: count, cure: 'compaction' },
  total_delete_files: { name: 'Delete files', many: true, print: count, cure: 'compaction' },
  delete_ratio: {
    name: 'Delete files for each data file',
    many: true,
    print: fraction,
    cure: 'compaction',
  },
  manifests: { name: 'Manifests', many: true, print: count, cure: 'rewrite of manifests' },
  live_snapshots: { name: 'Snapshots', many: true, print: count, cure: 'expiry' },
  metadata_bytes: { name: 'The metadata file', many: false, print: bytes, cure: 'expiry' },
  skew_max_over_median: { name: 'Partition skew', many: false, print: ratio, cure: null },
  reader_seconds: { name: 'The duration', many: false, print: rounded, cure: null },
  reader_seconds_per_gib: {
    name: 'Seconds for each GiB read',
    many: true,
    print: tenths,
    cure: null,
  },
};
export const METRIC_NAMES = Object.keys(METRICS) as ForecastMetric[];
/** What made the forecasts; null: there are none. */
export function modelWords(name: string | null): string | null {
  const [, day, tables] = /^own-(\d{4}-\d\d-\d\d)-(\d+)-tables$/.exec(name ?? '') ?? [];
  if (day && tables) return `a model that was trained on ${count(Number(tables))} of your tables on ${day}`;
  return name?.startsWith('shipped-') ? 'the model that ships with Limnograph' : name && `the model ${name}`;
}
/** Null: this page does not know the metric. */
export const metricNamed = (name: string | undefined): ForecastMetric | null =>
  METRIC_NAMES.find((metric) => metric === name) ?? null;

/** `small files`, for lists. */
export function metricWord(metric: ForecastMetric): string {
  if (metric === 'reader_seconds') return 'duration of a reader';
  const name = METRICS[metric].name.replace(/^The /, '');
  return name.charAt(0).toLowerCase() + name.slice(1);
}

export const isPlural = (metric: ForecastMetric): boolean => METRICS[metric].many;
export const printLevel = (metric: ForecastMetric, value: number | null): string =>
  METRICS[metric].print(value);
export const cureOf = (metric: ForecastMetric): string | null => METRICS[metric].cure;

/** `Small files`, `The duration of churn`: what a sentence is about. */
export function subjectOf({ metric, job_name: job }: Pick<RiskRow, 'metric' | 'job_name'>): string {
  return job === null
    ? METRICS[metric].name
    : `${METRICS[metric].name} ${metric === 'reader_seconds' ? 'of' : 'by'} ${job}`;
}

const DRIVERS: Record<ForecastDriver, string> = {
  small_files: 'small files',
  total_bytes: 'growth of the table',
  manifests: 'manifests',
  total_delete_files: 'delete files',
  skew_max_over_median: 'partition skew',
  delete_ratio: 'deletes',
  live_snapshots: 'snapshots',
  metadata_bytes: 'size of the metadata',
  load: 'load of the cluster',
};
export const driverWord = (driver: string): string => DRIVERS[driver as ForecastDriver] ?? driver;

const REASONS: Record<AbstainReason, string> = {
  short_history: 'its history is too short',
  missing: 'too many of its values are missing',
  stale: 'nothing new is known of it',
  regime_change: 'it has changed its habits, and too little is known of the new ones',
  unpredictable: 'its past does not show where it goes next',
};
/** Follows `Cannot say, because`. */
export const reasonWords = (reason: AbstainReason | null): string =>
  reason === null ? 'the reason is not recorded' : REASONS[reason];

export interface RiskLook {
  readonly icon: IconName;
  readonly word: string;
  readonly tone: 'c-crit' | 'c-warn' | 'c-ok' | 'c-unknown';
}
const LOOKS: Record<RiskState, RiskLook> = {
  at_risk: { icon: 'warn', word: 'At risk', tone: 'c-warn' },
  red: { icon: 'crit', word: 'Red now', tone: 'c-crit' },
  cannot_say: { icon: 'unknown', word: 'Cannot say', tone: 'c-unknown' },
  not_at_risk: { icon: 'ok', word: 'Not at risk', tone: 'c-ok' },
};
/** In the order in which they are looked at. */
export const RISK_STATES = Object.keys(LOOKS) as RiskState[];
export const riskLook = (state: RiskState): RiskLook => LOOKS[state];

/** Tells rows of a list apart. */
export const rowKey = (row: RiskRow): string =>
  [row.table_uuid, row.metric, row.job_name, row.catalog, row.namespace, row.table].join('|');

export const tableForecastPath = (ref: TableRef): string => `${tablePath(ref)}/forecast`;
/** The timeline with the days that the forecast covers. */
export const forecastTimelinePath = (ref: TableRef): string => `${tablePath(ref)}?from=now-7d&to=now%2B7d`;
