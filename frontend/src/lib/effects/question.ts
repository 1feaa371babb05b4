// What the ledger is narrowed to, and how the URL says it. Defaults stay out of the address. Pure.
import type { EffectsQuestion } from '#lib/api/client.ts';
import { addressOf, cursorAddress } from '#lib/page/list-address.ts';
import { findUnknownValues } from '#lib/state/unknown-values.ts';
import { resolveRange, type Range, type RangeText } from '#lib/time/range.ts';
import { MAX_POINTS } from '#lib/time/step.ts';
import type { LedgerVerdict, Measure } from './sentence.ts';
import { MEASURES, VERDICTS } from './words.ts';

const LEDGER_PATH = '/maintenance/ledger';
/** Operations are rare and take days to be judged: the ledger looks further back than other pages. */
export const LEDGER_RANGE: RangeText = { from: 'now-30d', to: 'now' };

const DAY_MS = 86_400_000;
/** Rows a page. */
const LIMIT = 50;

/** Filters by a name; empty: any. */
export const NAMES = ['table', 'owner', 'action', 'writer', 'job'] as const;
export type NameFilter = (typeof NAMES)[number];

export interface LedgerChoice extends Record<NameFilter, string> {
  readonly measure: Measure | '';
  readonly verdict: LedgerVerdict | '';
}

export const ANY: LedgerChoice = {
  ...{ table: '', owner: '', action: '', writer: '', job: '' },
  ...{ measure: '', verdict: '' },
};

/** Of a page's search parameters; what is not offered counts as any. */
export function choiceOf(params: URLSearchParams): LedgerChoice {
  const name = (of: NameFilter) => params.get(of) ?? '';
  return {
    ...{ table: name('table'), owner: name('owner'), action: name('action') },
    ...{ writer: name('writer'), job: name('job') },
    measure: MEASURES.find(({ value }) => value === params.get('measure'))?.value ?? '',
    verdict: VERDICTS.find(({ value }) => value === params.get('verdict'))?.value ?? '',
  };
}

export const isNarrowed = (choice: LedgerChoice): boolean => Object.values(choice).some(Boolean);

export interface ReadRange {
  readonly text: RangeText;
  readonly range: Range;
  /** Names of parameters that could not be read. */
  readonly unread: readonly string[];
}

export function readRange(params: URLSearchParams, now: number): ReadRange {
  const text = { from: params.get('from') || LEDGER_RANGE.from, to: params.get('to') || LEDGER_RANGE.to };
  const range = resolveRange(text, now);
  if (range && range.to - range.from < (MAX_POINTS - 1) * DAY_MS) return { text, range, unread: [] };
  return {
    text: LEDGER_RANGE,
    range: resolveRange(LEDGER_RANGE, now) as Range,
    unread: [params.get('from') ? 'from' : 'to'],
  };
}

/** Names of parameters that say what is not offered. */
export const unreadOf = (params: URLSearchParams): string[] =>
  findUnknownValues(params, {
    measure: MEASURES.map(({ value }) => value),
    verdict: VERDICTS.map(({ value }) => value),
  });

const filters = (choice: LedgerChoice) =>
  Object.fromEntries(Object.entries(choice).filter(([, value]) => value)) as Partial<LedgerChoice> &
    EffectsQuestion;

/** A page further on is of the range that its first page had, which the cursor carries: "the last month" has moved on. */
export function ledgerQuestion(
  choice: LedgerChoice,
  range: { from: number; to: number },
  cursor: string | null,
): EffectsQuestion {
  return {
    ...(cursor ? {} : { from: range.from, to: range.to }),
    limit: LIMIT,
    ...filters(choice),
    ...(cursor ? { cursor } : {}),
  };
}

/** The address with `change` applied, from its first page. Parameters of others stay. */
export function ledgerHref(params: URLSearchParams, change: Partial<LedgerChoice>): string {
  const next = new URLSearchParams(params);
  next.delete('cursor');
  for (const [name, value] of Object.entries({ ...choiceOf(params), ...change }))
    if (value) next.set(name, value);
    else next.delete(name);
  return addressOf(LEDGER_PATH, next);
}

/** The ledger of one table. */
export const tableLedgerHref = (table: string): string => ledgerHref(new URLSearchParams(), { table });

/** The page that begins at a cursor; null: at the newest operation. */
export const cursorHref = (params: URLSearchParams, cursor: string | null): string =>
  cursorAddress(LEDGER_PATH, params, cursor);

/** The address with another range, from its first page. */
export function rangeHref(params: URLSearchParams, { from, to }: RangeText): string {
  const next = new URLSearchParams(params);
  for (const name of ['cursor', 'time', 'time.window']) next.delete(name);
  const usual = from === LEDGER_RANGE.from && to === LEDGER_RANGE.to;
  for (const [name, value] of Object.entries({ from, to }))
    if (usual) next.delete(name);
    else next.set(name, value);
  return addressOf(LEDGER_PATH, next);
}
