// What the queue of plans is narrowed to, and how the URL says it. Defaults stay out of the address. Pure.
import { addressOf, cursorAddress } from '#lib/page/list-address.ts';
import { findUnknownValues } from '#lib/state/unknown-values.ts';
import type { MaintenanceQuestion } from '#lib/maintenance/api.ts';
import { readBudget } from '#lib/maintenance/budget.ts';

const QUEUE_PATH = '/maintenance';
/** Rows a page. */
const LIMIT = 50;

/** Filters by a name; empty: any. */
const FILTERS = ['rule', 'action', 'owner', 'q', 'state'] as const;

export type QueueChoice = Readonly<
  Record<(typeof FILTERS)[number], string> & {
    /** As typed; empty: none. It narrows nothing. */
    budget: string;
  }
>;

/** Groups of states to choose from, as the server lists them; by default those that are open. */
export const STATE_GROUPS: Readonly<Record<string, string>> = {
  '': 'open',
  proposed: 'waiting for a decision',
  'approved,queued,leased,checking,running,cancelling,committed,unknown': 'in progress',
  'verified,measured': 'done',
  'failed,partly,conflicted,refused': 'failed or refused',
  'dismissed,withdrawn,expired,superseded,cancelled': 'ended without running',
};

/** Not narrowed; the budget is not a filter. */
export const ANY = {
  rule: '',
  action: '',
  owner: '',
  q: '',
  state: '',
} as const satisfies Partial<QueueChoice>;

export const choiceOf = (params: URLSearchParams): QueueChoice => ({
  rule: params.get('rule') ?? '',
  action: params.get('action') ?? '',
  owner: params.get('owner') ?? '',
  q: params.get('q')?.trim() ?? '',
  state: params.get('state') ?? '',
  budget: readBudget(params.get('budget') ?? '') === null ? '' : (params.get('budget') ?? ''),
});

export const isNarrowed = (choice: QueueChoice): boolean => FILTERS.some((name) => choice[name]);

/** Names of parameters whose value cannot be read. */
export const unreadOf = (params: URLSearchParams): string[] =>
  findUnknownValues(params, { budget: (text) => readBudget(text) !== null });

export const queueQuestion = (choice: QueueChoice, cursor: string | null): MaintenanceQuestion => ({
  limit: LIMIT,
  ...Object.fromEntries(FILTERS.map((name) => [name, choice[name]]).filter(([, value]) => value)),
  ...(cursor && { cursor }),
});

/** The address with `change` applied, from its first page. Parameters of others stay. */
export function queueHref(params: URLSearchParams, change: Partial<QueueChoice>): string {
  const next = new URLSearchParams(params);
  next.delete('cursor');
  for (const [name, value] of Object.entries({ ...choiceOf(params), ...change }))
    if (value) next.set(name, value);
    else next.delete(name);
  return addressOf(QUEUE_PATH, next);
}

/** The page that begins at a cursor; null: at the best plan. */
export const cursorHref = (params: URLSearchParams, cursor: string | null): string =>
  cursorAddress(QUEUE_PATH, params, cursor);
