// What the list of forecasts is narrowed to, and how the URL says it. Defaults stay out of the address. Pure.
import { addressOf, cursorAddress } from '#lib/page/list-address.ts';
import { findUnknownValues } from '#lib/state/unknown-values.ts';
import type { ForecastsQuestion } from './api.ts';
import { METRIC_NAMES, RISK_STATES, type ForecastMetric, type RiskState } from './words.ts';

const FORECASTS_PATH = '/forecasts';
/** Rows a page. */
const LIMIT = 50;

export interface ForecastsChoice {
  readonly state: RiskState;
  readonly metric: ForecastMetric | '';
  /** `catalog.namespace.table`; empty: any. */
  readonly table: string;
  readonly owner: string;
}

/** Not narrowed; the state is not a filter. */
export const ANY = { metric: '', table: '', owner: '' } as const satisfies Partial<ForecastsChoice>;

/** Of a page's search parameters; what is not offered counts as any. */
export const choiceOf = (params: URLSearchParams): ForecastsChoice => ({
  state: RISK_STATES.find((each) => each === params.get('state')) ?? 'at_risk',
  metric: METRIC_NAMES.find((each) => each === params.get('metric')) ?? '',
  table: params.get('table') ?? '',
  owner: params.get('owner') ?? '',
});

export const isNarrowed = ({ metric, table, owner }: ForecastsChoice): boolean =>
  Boolean(metric || table || owner);

/** Names of parameters that say what is not offered. */
export const unreadOf = (params: URLSearchParams): string[] =>
  findUnknownValues(params, { state: RISK_STATES, metric: METRIC_NAMES });

export const forecastsQuestion = (
  { state, metric, table, owner }: ForecastsChoice,
  cursor: string | null,
): ForecastsQuestion => ({
  limit: LIMIT,
  state,
  ...(metric && { metric }),
  ...(table && { table }),
  ...(owner && { owner }),
  ...(cursor && { cursor }),
});

/** The address with `change` applied, from its first page. Parameters of others stay. */
export function forecastsHref(params: URLSearchParams, change: Partial<ForecastsChoice>): string {
  const next = new URLSearchParams(params);
  next.delete('cursor');
  const choice = { ...choiceOf(params), ...change };
  const written = { ...choice, state: choice.state === 'at_risk' ? '' : choice.state };
  for (const [name, value] of Object.entries(written))
    if (value) next.set(name, value);
    else next.delete(name);
  return addressOf(FORECASTS_PATH, next);
}

/** The page that begins at a cursor; null: the first one. */
export const cursorHref = (params: URLSearchParams, cursor: string | null): string =>
  cursorAddress(FORECASTS_PATH, params, cursor);
