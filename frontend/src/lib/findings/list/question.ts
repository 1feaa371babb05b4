// What the list of findings is narrowed to, and how the URL says it. Defaults stay out of the address. Pure.
import type { FindingsQuestion } from '#lib/api/client.ts';
import { addressOf, cursorAddress } from '#lib/page/list-address.ts';
import { findUnknownValues } from '#lib/state/unknown-values.ts';
import { CODES, SEVERITIES, type FindingCode, type FindingSeverity } from '#lib/findings/words.ts';

const FINDINGS_PATH = '/findings';
/** Rows a page. */
const LIMIT = 50;

const ACKNOWLEDGED = ['true', 'any'] as const;

export interface FindingsChoice {
  readonly state: 'open' | 'closed';
  readonly severity: FindingSeverity | '';
  readonly code: FindingCode | '';
  /** `catalog.namespace.table`; empty: any. */
  readonly table: string;
  readonly owner: string;
  /** Empty: those that are not; of closed ones it says nothing. */
  readonly acknowledged: 'true' | 'any' | '';
}

/** Not narrowed; the state is not a filter. */
export const ANY = {
  ...{ severity: '', code: '', table: '', owner: '', acknowledged: '' },
} as const satisfies Partial<FindingsChoice>;

/** Of a page's search parameters; what is not offered counts as any. */
export const choiceOf = (params: URLSearchParams): FindingsChoice => ({
  state: params.get('state') === 'closed' ? 'closed' : 'open',
  severity: SEVERITIES.find((each) => each === params.get('severity')) ?? '',
  code: CODES.find((each) => each === params.get('code')) ?? '',
  table: params.get('table') ?? '',
  owner: params.get('owner') ?? '',
  acknowledged: ACKNOWLEDGED.find((each) => each === params.get('acknowledged')) ?? '',
});

export const isNarrowed = ({ severity, code, table, owner, acknowledged }: FindingsChoice): boolean =>
  Boolean(severity || code || table || owner || acknowledged === 'true');

/** Names of parameters that say what is not offered. */
export const unreadOf = (params: URLSearchParams): string[] =>
  findUnknownValues(params, {
    ...{ state: ['open', 'closed'], severity: SEVERITIES, code: CODES },
    acknowledged: ACKNOWLEDGED,
  });

export const findingsQuestion = (
  { state, severity, code, table, owner, acknowledged }: FindingsChoice,
  cursor: string | null,
): FindingsQuestion => ({
  limit: LIMIT,
  state,
  ...(severity && { severity }),
  ...(code && { code }),
  ...(table && { table }),
  ...(owner && { owner }),
  ...(acknowledged && { acknowledged }),
  ...(cursor && { cursor }),
});

/** The address with `change` applied, from its first page. Parameters of others stay. */
export function findingsHref(params: URLSearchParams, change: Partial<FindingsChoice>): string {
  const next = new URLSearchParams(params);
  next.delete('cursor');
  const choice = { ...choiceOf(params), ...change };
  for (const [name, value] of Object.entries({
    ...choice,
    state: choice.state === 'open' ? '' : choice.state,
  }))
    if (value) next.set(name, value);
    else next.delete(name);
  return addressOf(FINDINGS_PATH, next);
}

/** The open findings of one table. */
export const tableFindingsHref = (table: string): string => findingsHref(new URLSearchParams(), { table });

/** The page that begins at a cursor; null: the first one. */
export const cursorHref = (params: URLSearchParams, cursor: string | null): string =>
  cursorAddress(FINDINGS_PATH, params, cursor);
