// What narrows the fleet besides names: findings, owner, format, jobs and growth. Of the address, for the server, and in
// words. Pure.
import type { FleetQuestion } from '#lib/api/client.ts';
import { CODES, codeWord, SEVERITIES, severityLook } from '#lib/findings/words.ts';
import { percent } from '#lib/format/count.ts';
import { duration, seconds } from '#lib/format/duration.ts';
import { readPeriod, writePeriod } from '#lib/time/period.ts';

type Given<Name extends keyof FleetQuestion> = NonNullable<FleetQuestion[Name]> | '';

/** Empty or null: not filtered by it. */
export interface FleetFilters {
  severity: Given<'severity'>;
  code: Given<'code'>;
  acknowledged: Given<'acknowledged'>;
  owner: string;
  format: Given<'format'>;
  has_job: 'true' | 'false' | '';
  /** Share of the data files: 0.2 is 20 %. */
  grew: number | null;
  /** Seconds of growth; null: the usual hour. */
  within: number | null;
  /** Seconds that planning takes at the 95th percentile. */
  planning: number | null;
  /** Share of the scans that filter no partition column. */
  missed: number | null;
}

const FORMATS = ['iceberg', 'delta', 'hudi'] as const;
const JOBS = ['true', 'false'] as const;
const ACKNOWLEDGED = ['true', 'false', 'any'] as const;
export const USUAL_WITHIN_S = 3_600;
export const WITHIN_S = [300, 900, 3_600, 21_600, 86_400] as const;
/** The most that the server accepts. */
const MOST_WITHIN_S = 7 * 86_400;
const MOST_GREW = 1e6;
const MOST_PLANNING_S = 3_600;

export const NO_FILTERS: Readonly<FleetFilters> = {
  severity: '',
  code: '',
  acknowledged: '',
  owner: '',
  format: '',
  has_job: '',
  grew: null,
  within: null,
  planning: null,
  missed: null,
};

const among = <T extends string>(known: readonly T[], text: string | null): T | '' =>
  known.find((each) => each === text) ?? '';

function readUpTo(most: number, text: string | null): number | null {
  const value = text ? Number(text) : NaN;
  return value >= 0 && value <= most ? value : null;
}
const readGrew = (text: string | null) => readUpTo(MOST_GREW, text);
const readPlanning = (text: string | null) => readUpTo(MOST_PLANNING_S, text);
const readMissed = (text: string | null) => readUpTo(1, text);

/** `1h`, or seconds as the API has them. */
function readWithin(text: string | null): number | null {
  const seconds = /^\d+$/.test(text ?? '') ? Number(text) : readPeriod(text ?? '');
  return seconds !== null && seconds >= 1 && seconds <= MOST_WITHIN_S ? seconds : null;
}

/** An unknown or malformed value counts as no filter. */
export const readFilters = (params: URLSearchParams): FleetFilters => ({
  severity: among(SEVERITIES, params.get('severity')),
  code: among(CODES, params.get('code')),
  acknowledged: among(ACKNOWLEDGED, params.get('acknowledged')),
  owner: params.get('owner') ?? '',
  format: among(FORMATS, params.get('format')),
  has_job: among(JOBS, params.get('has_job')),
  grew: readGrew(params.get('grew')),
  within: readWithin(params.get('within')),
  planning: readPlanning(params.get('planning')),
  missed: readMissed(params.get('missed')),
});

/** What each filter takes, for the notice about unknown values. */
export const FILTER_VALUES = {
  severity: SEVERITIES,
  code: CODES,
  acknowledged: ACKNOWLEDGED,
  format: FORMATS,
  has_job: JOBS,
  grew: (text: string) => readGrew(text) !== null,
  within: (text: string) => readWithin(text) !== null,
  planning: (text: string) => readPlanning(text) !== null,
  missed: (text: string) => readMissed(text) !== null,
};

/** Parameters of the address; empty: left out. */
export const writeFilters = (filters: FleetFilters): Record<keyof FleetFilters, string> => ({
  ...filters,
  grew: filters.grew === null ? '' : String(filters.grew),
  within: filters.within === null ? '' : writePeriod(filters.within),
  planning: filters.planning === null ? '' : String(filters.planning),
  missed: filters.missed === null ? '' : String(filters.missed),
});

/** What the server is asked. `growth`: whether the page shows growth, and so needs to say within what time. */
export function filterQuestion(filters: FleetFilters, growth: boolean): FleetQuestion {
  const {
    severity,
    code,
    acknowledged,
    owner,
    format,
    has_job: job,
    grew,
    within,
    planning,
    missed,
  } = filters;
  return {
    ...(severity && { severity }),
    ...(code && { code }),
    ...(acknowledged && { acknowledged }),
    ...(owner && { owner }),
    ...(format && { format }),
    ...(job && { has_job: job === 'true' }),
    ...(grew !== null && { grew }),
    ...((grew !== null || growth) && { within: within ?? USUAL_WITHIN_S }),
    ...(planning !== null && { planning }),
    ...(missed !== null && { missed }),
  };
}

const ACKNOWLEDGED_WORDS = {
  true: 'acknowledged',
  false: 'not acknowledged',
  any: 'with or without acknowledgement',
} as const;

export interface FilterChip {
  readonly text: string;
  /** What takes it away. */
  readonly change: Partial<FleetFilters>;
}

/** A chip for each filter in use. */
export function chipsOf(filters: FleetFilters): FilterChip[] {
  const {
    severity,
    code,
    acknowledged,
    owner,
    format,
    has_job: job,
    grew,
    within,
    planning,
    missed,
  } = filters;
  const chips: (FilterChip | false | '')[] = [
    severity && { text: `severity: ${severityLook(severity).word.toLowerCase()}`, change: { severity: '' } },
    code && { text: `finding: ${codeWord(code)}`, change: { code: '' } },
    acknowledged && { text: `findings: ${ACKNOWLEDGED_WORDS[acknowledged]}`, change: { acknowledged: '' } },
    owner && { text: `owner: ${owner}`, change: { owner: '' } },
    format && { text: `format: ${format}`, change: { format: '' } },
    job && { text: job === 'true' ? 'has a job' : 'has no job', change: { has_job: '' } },
    grew !== null && {
      text: `grew > ${percent(grew)} within ${duration(within ?? USUAL_WITHIN_S)}`,
      change: { grew: null, within: null },
    },
    planning !== null && { text: `planning p95 > ${seconds(planning)}`, change: { planning: null } },
    missed !== null && {
      text: `scans that miss the partitions > ${percent(missed)}`,
      change: { missed: null },
    },
  ];
  return chips.filter((chip): chip is FilterChip => Boolean(chip));
}

/** Percent as typed to a share; null: no number that can be filtered by. */
export function readPercent(text: string): number | null {
  const share = text.trim() === '' ? NaN : Number(text.replace(',', '.').replace('%', '')) / 100;
  return share >= 0 && share <= MOST_GREW ? share : null;
}
