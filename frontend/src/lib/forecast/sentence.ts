// A forecast in words: what will probably happen, between when, with which odds, why, and what maintenance would change.
// Ranges and odds, never a single date; no date where a crossing is less likely than not. Pure.
import { count } from '#lib/format/count.ts';
import { clock, dayMonth, weekday } from '#lib/format/instant.ts';
import {
  cureOf,
  driverWord,
  isPlural,
  printLevel,
  reasonWords,
  subjectOf,
  type ForecastFan,
  type RiskRow,
  type TrackRecord,
} from './words.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `7 of 10`: what is less likely than 1 of 20 and more likely than 19 of 20 is not given more exactly. */
export function odds(p: number): string {
  if (p < 0.05) return 'less than 1 of 20';
  if (p > 0.95) return 'more than 19 of 20';
  return `${Math.min(9, Math.max(1, Math.round(p * 10)))} of 10`;
}

/** `7 days`, `36 h`: how far a forecast looks. */
export function horizon(hours: number): string {
  if (hours % 24) return `${count(hours)} h`;
  return hours === 24 ? '24 h' : `${count(hours / 24)} days`;
}

/** `between Thu and Sat`; with times within a day, with dates from a week on. */
export function betweenWords(from: number, to: number, now: number): string {
  const far = to - now >= 6 * DAY_MS;
  const sameDay = dayMonth(from) === dayMonth(to);
  const words = (at: number) => {
    if (sameDay) return `${weekday(at).slice(0, 3)} ${clock(at)}`;
    return far ? dayMonth(at) : weekday(at).slice(0, 3);
  };
  const [first, last] = [from <= now ? 'now' : words(from), words(Math.max(to, now))];
  // the two ends of a range of minutes read alike
  return first === last ? `around ${first}` : `between ${first} and ${last}`;
}

const isLikely = ({ p_cross: p }: Pick<RiskRow, 'p_cross'>): boolean => p !== null && p >= 0.5;

/** What a sentence needs of a row. */
export type RiskPart = Omit<
  RiskRow,
  | 'catalog'
  | 'namespace'
  | 'table'
  | 'table_uuid'
  | 'owner'
  | 'as_of'
  | 'p10'
  | 'p50'
  | 'p90'
  | 'readers'
  | 'finding_id'
>;

/** What is said of a row, with a full stop. */
export function riskSentence(row: RiskPart, now: number): string {
  const subject = subjectOf(row);
  const limit = printLevel(row.metric, row.threshold);
  const chances = row.p_cross === null ? '' : ` (${odds(row.p_cross)})`;
  if (row.state === 'cannot_say') return `Cannot say, because ${reasonWords(row.abstained)}.`;
  if (row.state === 'red') {
    const level = row.level === null ? '' : `: ${printLevel(row.metric, row.level)} now`;
    return `${subject} ${isPlural(row.metric) ? 'have' : 'has'} passed ${limit}${level}.`;
  }
  if (row.state === 'not_at_risk' && !isLikely(row)) {
    const calm = row.p_cross === null ? '' : ` (${odds(1 - row.p_cross)})`;
    return `${subject} will probably stay below ${limit} for the next ${horizon(row.hours)}${calm}.`;
  }
  if (!isLikely(row)) return `${subject} could pass ${limit} within ${horizon(row.hours)}${chances}.`;
  const when =
    row.crosses_from === null || row.crosses_to === null
      ? `within ${horizon(row.hours)}`
      : betweenWords(row.crosses_from, row.crosses_to, now);
  return `${subject} will probably pass ${limit} ${when}${chances}.`;
}

/** A gap so many times the usual one is overdue. */
const OVERDUE = 1.5;

/** `the compaction that came every 24 h is 60 h overdue`; null: nothing brings the level down, or it is in time. */
function rhythmWords(row: RiskPart): string | null {
  const { usual_drop_hours: usual, last_drop_hours: last } = row;
  const cure = cureOf(row.metric);
  if (usual === null || last === null || cure === null || usual <= 0) return null;
  const every = `${count(Math.max(1, usual))} h`;
  if (last >= OVERDUE * usual)
    return `the ${cure} that came every ${every} is ${count(last - usual)} h overdue`;
  return `the last ${cure} was ${count(last)} h ago, they come every ${every}`;
}

function inflowWords(row: RiskPart): string | null {
  const { growth_per_day: growth, metric } = row;
  if (growth === null || growth <= 0) return null;
  const size = printLevel(metric, growth);
  // an inflow that prints as nothing explains nothing
  if (size === printLevel(metric, 0)) return null;
  if (!isPlural(metric) || metric === 'delete_ratio' || metric === 'reader_seconds_per_gib')
    return `it grows by ${size} a day`;
  return `${size} a day come in`;
}

/** Growth is said as growth: more data is no damage. */
function driverWords(row: RiskPart): string | null {
  if (row.driver === null || row.driver === row.metric) return null;
  if (row.driver === 'total_bytes') return 'the table itself grows, which is not damage';
  return `the strongest driver is the ${driverWord(row.driver)}`;
}

/** `1,900 a day come in, the compaction that came every 24 h is 60 h overdue`; null: nothing is known. */
export function whyWords(row: RiskPart): string | null {
  if (row.state === 'cannot_say') return null;
  const parts = [inflowWords(row), rhythmWords(row), driverWords(row)].filter((part) => part !== null);
  return parts.length ? parts.join(', ') : null;
}

/** `With compaction now: 1 of 10.` Null: no estimate. */
export function whatIfSentence(row: RiskPart): string | null {
  const p = row.p_cross_if_maintained;
  if (p === null || row.state === 'cannot_say') return null;
  const cure = cureOf(row.metric);
  const action =
    cure === null
      ? 'maintenance'
      : cure === 'expiry'
        ? 'an expiry'
        : cure.startsWith('rewrite')
          ? `a ${cure}`
          : cure;
  const same = row.p_cross !== null && odds(p) === odds(row.p_cross);
  return `With ${action} now: ${odds(p)}${same ? ', so it would change little' : ''}.`;
}

/** `8,100 at 05:00; 9,000 to 14,000 in 7 days, 8 times of 10`; null: no level is known. */
export function levelWords(row: RiskRow): string | null {
  const print = (value: number) => printLevel(row.metric, value);
  const here = row.level === null ? null : `${print(row.level)} now`;
  if (row.p10 === null || row.p90 === null || row.state === 'cannot_say') return here;
  const ahead = `${print(row.p10)} to ${print(row.p90)} in ${horizon(row.hours)} (8 of 10)`;
  return here === null ? ahead : `${here}; ${ahead}`;
}

/** All that is said of a row. */
export function riskText(row: RiskRow, now: number): string {
  const why = whyWords(row);
  return [riskSentence(row, now), why && `Why: ${why}.`, whatIfSentence(row)].filter(Boolean).join(' ');
}

const noun = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** `Of the last 40 warnings 31 came true, median notice 37 h; 12 crossings were not foreseen; 4 were acted upon.` */
export function trackSentence(record: TrackRecord): string {
  const decided = record.came_true + record.did_not;
  const notice =
    record.median_notice_hours === null ? '' : `, median notice ${count(record.median_notice_hours)} h`;
  const parts = [
    decided
      ? `Of the last ${noun(decided, 'warning')} ${count(record.came_true)} came true${notice}`
      : 'No warning has an outcome yet',
    `${noun(record.not_foreseen, 'crossing was', 'crossings were')} not foreseen`,
    ...(record.acted_upon ? [`${noun(record.acted_upon, 'warning was', 'warnings were')} acted upon`] : []),
    ...(record.pending ? [`${noun(record.pending, 'warning is', 'warnings are')} still open`] : []),
  ];
  return `${parts.join('; ')}.`;
}

/** Nothing was warned of, and nothing crossed. */
export const hasRecord = (record: TrackRecord): boolean => record.warnings > 0 || record.not_foreseen > 0;

/** `9,000 to 14,000 in 7 days, threshold 10,000`: the fan for those who do not see it. */
export function fanSentence(fan: ForecastFan): string {
  const print = (value: number) => printLevel(fan.metric, value);
  const [first] = fan.points;
  if (first === undefined) return `${subjectOf(fan)}: no interval is known.`;
  const ahead = fan.points.slice(1).map((point) => {
    const hours = Math.round((point.at - first.at) / HOUR_MS);
    return `${print(point.p10)} to ${print(point.p90)} in ${horizon(hours)}`;
  });
  return `${print(first.p50)} at the time of the forecast; ${ahead.join(', ')} (8 of 10); threshold ${print(fan.threshold)}.`;
}
