// What the table page keeps in its URL, read and written. Defaults are omitted, parameters of others preserved,
// an unreadable value is reported and replaced by its default: never a blank page.
import { readPeriod, writePeriod } from './period.ts';
import { parseInstant, resolveRange, type RangeText } from './range.ts';
import { MAX_POINTS } from './step.ts';
import { usualRange } from './usual.ts';
import { isZone } from './zone.ts';

/** What a range is compared with when it is explained: a name, or a span (epoch ms). */
export type Baseline = 'before' | 'yesterday' | 'week' | readonly [from: number, to: number];

export type Comparison = number | string;

export interface TimelineUrl {
  readonly range: RangeText;
  /** Where the cursor rests; null: at the end. */
  readonly at: number | null;
  /** The pin A that differences are taken against. */
  readonly pin: number | null;
  /** Marks of the reader, epoch ms, in time order. */
  readonly marks: readonly number[];
  /** Selected span, epoch ms. */
  readonly sel: readonly [number, number] | null;
  /** Snapshot id of the open commit, text, all digits. */
  readonly commit: string | null;
  /** Lane names to ask for; null: the server's default. */
  readonly lanes: readonly string[] | null;
  /** Lanes on a logarithmic axis; null: those that have one by themselves. */
  readonly log: readonly string[] | null;
  readonly job: string | null;
  /** What is compared with: the period this many seconds earlier, or a table, `lake.sales.orders`. */
  readonly cmp: Comparison | null;
  /** The panel beside the timeline; null: the open commit, else why the job changed. */
  readonly panel: 'explain' | 'commits' | null;
  readonly base: Baseline;
  /** Branch or tag whose commits are highlighted; null: main. */
  readonly ref: string | null;
  /** Fingerprint of the alert whose bar is marked; without a range, its window is shown. */
  readonly alert: string | null;
  /** False: a range that ends now does not follow it. */
  readonly live: boolean;
}

export interface ReadUrl {
  readonly state: TimelineUrl;
  /** Names of parameters that could not be read. */
  readonly unread: readonly string[];
}

const DAY_MS = 86_400_000;
const ID = /^-?\d{1,19}$/;
const NONE = 'none';
const MOST_MARKS = 50;
const FINGERPRINT = /^[\w-]{1,128}$/;
const MOST_REF_CHARS = 255;
const LANES = /^[a-z_]+(,[a-z_]+)*$/;

export function readUrl(query: URLSearchParams, now: number): ReadUrl {
  const unread: string[] = [];
  const read = <T>(name: string, parse: (text: string) => T | null): T | null => {
    const text = query.get(name);
    if (text === null || text === '') return null;
    const value = parse(text);
    if (value === null) unread.push(name);
    return value;
  };
  const state: TimelineUrl = {
    range: readRange(query, now, unread),
    at: read('at', parseInstant),
    pin: read('a', parseInstant),
    marks: read('marks', parseMarks) ?? [],
    sel: read('sel', parsePair),
    commit: read('c', (text) => (ID.test(text) ? text : null)),
    lanes: read('lanes', (text) => (LANES.test(text) ? text.split(',') : null)),
    log: read('log', (text) => (text === NONE ? [] : LANES.test(text) ? text.split(',') : null)),
    job: read('job', (text) => text),
    cmp: read('cmp', (text) => readPeriod(text) ?? (/\./.test(text) ? text : null)),
    panel: read('panel', (text) => (text === 'explain' || text === 'commits' ? text : null)),
    base:
      read('base', (text) => (text === 'yesterday' || text === 'week' ? text : parsePair(text))) ?? 'before',
    ref: read('ref', (text) => (text.length <= MOST_REF_CHARS ? text : null)),
    alert: read('alert', (text) => (FINGERPRINT.test(text) ? text : null)),
    live: read('live', (text) => (/^[01]$/.test(text) ? text : null)) !== '0',
  };
  // `preferences/zone.svelte.ts` reads it for all pages; here it is only reported when it is unknown
  read('tz', (text) => isZone(text) || null);
  return { state, unread };
}

/** Whether the address names a range; else it is the usual one. */
export const namesRange = (query: URLSearchParams): boolean =>
  ['from', 'to', 'time'].some((name) => Boolean(query.get(name)));

function readRange(query: URLSearchParams, now: number, unread: string[]): RangeText {
  const centred = aroundTime(query);
  if (centred) return centred;
  const usual = usualRange();
  const text = { from: query.get('from') || usual.from, to: query.get('to') || usual.to };
  const range = resolveRange(text, now);
  if (range && range.to - range.from < (MAX_POINTS - 1) * DAY_MS) return text;
  unread.push(query.get('from') ? 'from' : 'to');
  return usual;
}

/** Grafana's `time` + `time.window` (both ms): a window around an instant. */
function aroundTime(query: URLSearchParams): RangeText | null {
  const [middle, width] = [Number(query.get('time') || NaN), Number(query.get('time.window') || NaN)];
  if (!(middle > 0) || !(width > 0)) return null;
  return { from: String(middle - width / 2), to: String(middle + width / 2) };
}

function parsePair(text: string): readonly [number, number] | null {
  const [first, second, ...rest] = text.split('..').map((each) => parseInstant(each));
  if (rest.length || first === null || second === null || first === undefined || second === undefined)
    return null;
  return first < second ? [first, second] : null;
}

/** Instants apart by commas, in time order, each once. */
function parseMarks(text: string): readonly number[] | null {
  const marks = text.split(',').map((each) => parseInstant(each));
  if (marks.length > MOST_MARKS || marks.includes(null)) return null;
  return [...new Set(marks as number[])].sort((a, b) => a - b);
}

/** The query of `state`, with every parameter of `query` that is not ours. Starts with `?`, or is empty. */
export function writeUrl(state: TimelineUrl, query: URLSearchParams): string {
  const next = new URLSearchParams(query);
  for (const name of ['time', 'time.window']) next.delete(name);
  const put = (name: string, value: string | null) =>
    value === null ? next.delete(name) : next.set(name, value);
  const usual = usualRange();
  put('from', state.range.from === usual.from && state.range.to === usual.to ? null : state.range.from);
  put('to', state.range.to === usual.to ? null : state.range.to);
  put('at', ms(state.at));
  put('a', ms(state.pin));
  put('marks', state.marks.map(Math.round).join(',') || null);
  put('sel', state.sel && pairText(state.sel));
  put('c', state.commit);
  put('lanes', state.lanes && state.lanes.join(','));
  put('log', state.log && (state.log.join(',') || NONE));
  put('job', state.job);
  put('cmp', typeof state.cmp === 'number' ? writePeriod(state.cmp) : state.cmp);
  put('panel', state.panel);
  put(
    'base',
    typeof state.base !== 'string' ? pairText(state.base) : state.base === 'before' ? null : state.base,
  );
  put('ref', state.ref);
  put('alert', state.alert);
  put('live', state.live ? null : '0');
  const text = next.toString();
  return text ? `?${text}` : '';
}

const pairText = ([from, to]: readonly [number, number]) => `${ms(from)}..${ms(to)}`;
const ms = <T extends number | null>(value: T) => (value === null ? null : String(Math.round(value)));

/** How the browser's history takes a change: the reader's choices add an entry, the cursor's place does not. */
export function historyMove(before: TimelineUrl, after: TimelineUrl): 'none' | 'push' | 'replace' {
  const same = (pick: (state: TimelineUrl) => unknown) =>
    JSON.stringify(pick(before)) === JSON.stringify(pick(after));
  const chosen = ({ at: _at, pin: _pin, marks: _marks, ...rest }: TimelineUrl) => rest;
  if (!same(chosen)) return 'push';
  return same(({ at, pin, marks }) => [at && Math.round(at), pin && Math.round(pin), marks.map(Math.round)])
    ? 'none'
    : 'replace';
}
