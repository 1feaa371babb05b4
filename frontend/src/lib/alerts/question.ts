// What the list of alerts is narrowed to, and how the URL says it. Pure.
import type { AlertsQuestion } from '#lib/api/client.ts';
import { findUnknownValues } from '#lib/state/unknown-values.ts';

export const STATES = [
  { value: 'any', label: 'any' },
  { value: 'firing', label: 'firing' },
  { value: 'resolved', label: 'resolved' },
  { value: 'unknown', label: 'end unknown' },
] as const;
type StateChoice = (typeof STATES)[number]['value'];

export interface AlertsChoice {
  readonly state: StateChoice;
  /** Part of a name or of a label: rule, table, team. */
  readonly q: string;
  /** `catalog.namespace`, or a namespace. */
  readonly ns: string;
  readonly cursor: string | null;
}

const LIMIT = 100;

/** Of a page's search parameters; what is not offered counts as any. */
export const choiceOf = (params: URLSearchParams): AlertsChoice => ({
  state: STATES.find(({ value }) => value === params.get('state'))?.value ?? 'any',
  q: params.get('q') ?? '',
  ns: params.get('ns') ?? '',
  cursor: params.get('cursor'),
});

/** Names of parameters that say what is not offered. */
export const unreadOf = (params: URLSearchParams): string[] =>
  findUnknownValues(params, { state: STATES.map(({ value }) => value) });

export const isNarrowed = ({ state, q, ns }: AlertsChoice): boolean =>
  state !== 'any' || q !== '' || ns !== '';

export function alertsQuestion({ state, q, ns, cursor }: AlertsChoice): AlertsQuestion {
  return {
    limit: LIMIT,
    ...(state === 'any' ? {} : { state }),
    ...(q ? { q } : {}),
    ...(ns ? { ns } : {}),
    ...(cursor ? { cursor } : {}),
  };
}

/** The address with `change` applied; a change of what is listed starts at its first page. Others' parameters stay. */
export function alertsHref(params: URLSearchParams, change: Partial<AlertsChoice>): string {
  const choice: AlertsChoice = { ...choiceOf(params), cursor: null, ...change };
  const next = new URLSearchParams(params);
  const put = (name: string, value: string) => (value ? next.set(name, value) : next.delete(name));
  put('state', choice.state === 'any' ? '' : choice.state);
  put('q', choice.q);
  put('ns', choice.ns);
  put('cursor', choice.cursor ?? '');
  return next.size ? `/alerts?${next}` : '/alerts';
}
