// What lists of commits can be narrowed to, and how the URL says it.
import type { CommitsQuestion } from '#lib/api/client.ts';
import { findUnknownValues } from '#lib/state/unknown-values.ts';

export const OPERATIONS = [
  { value: 'any', label: 'any' },
  { value: 'append', label: 'append' },
  { value: 'overwrite', label: 'overwrite' },
  { value: 'delete', label: 'delete' },
  { value: 'replace', label: 'replace' },
] as const;
type OperationChoice = (typeof OPERATIONS)[number]['value'];

/** Of a search parameter; an unknown one counts as any. */
const operationOf = (text: string | null): OperationChoice =>
  OPERATIONS.find(({ value }) => value === text)?.value ?? 'any';

/** Data files that a commit added, at least. */
export const FILE_LIMITS = [
  { value: '0', label: 'any number' },
  { value: '100', label: '100 or more' },
  { value: '1000', label: '1,000 or more' },
  { value: '10000', label: '10,000 or more' },
] as const;
type FileLimit = (typeof FILE_LIMITS)[number]['value'];

export const ORDERS = [
  { value: 'newest', label: 'newest first' },
  { value: 'files', label: 'most files first' },
] as const;
export type CommitOrder = (typeof ORDERS)[number]['value'];

export interface CommitsChoice {
  readonly operation: OperationChoice;
  readonly min: FileLimit;
  /** A part of the application's name or id; empty: any. */
  readonly writer: string;
  /** A part of the user's name; empty: any. */
  readonly user: string;
  readonly sort: CommitOrder;
}

/** Of a page's search parameters; what is not offered counts as any. */
export const choiceOf = (params: URLSearchParams): CommitsChoice => ({
  operation: operationOf(params.get('operation')),
  min: FILE_LIMITS.find(({ value }) => value === params.get('min'))?.value ?? '0',
  writer: params.get('writer')?.trim() ?? '',
  user: params.get('user')?.trim() ?? '',
  sort: ORDERS.find(({ value }) => value === params.get('sort'))?.value ?? 'newest',
});

/** Names of parameters that say what is not offered. */
export const unreadOf = (params: URLSearchParams): string[] =>
  findUnknownValues(params, {
    operation: OPERATIONS.map(({ value }) => value),
    min: FILE_LIMITS.map(({ value }) => value),
    sort: ORDERS.map(({ value }) => value),
  });

/** Rows a page. */
const LIMIT = 100;

/** A page further on is of the range that its first page had, which the cursor carries: "the last day" has moved on. */
export function commitsQuestion(
  choice: CommitsChoice,
  range: { from: number; to: number },
  cursor: string | null,
): CommitsQuestion {
  return {
    ...(cursor ? {} : { from: range.from, to: range.to }),
    limit: LIMIT,
    ...(choice.operation === 'any' ? {} : { operation: choice.operation }),
    ...(choice.min === '0' ? {} : { min_added_data_files: Number(choice.min) }),
    ...(choice.writer && { writer: choice.writer }),
    ...(choice.user && { user: choice.user }),
    ...(choice.sort === 'newest' ? {} : { sort: choice.sort }),
    ...(cursor ? { cursor } : {}),
  };
}

/** Search parameters of another choice: it begins at its first page. Others' parameters stay. */
export function paramsOf(params: URLSearchParams, choice: CommitsChoice): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const name of ['cursor', 'operation', 'min', 'writer', 'user', 'sort']) next.delete(name);
  if (choice.operation !== 'any') next.set('operation', choice.operation);
  if (choice.min !== '0') next.set('min', choice.min);
  if (choice.writer) next.set('writer', choice.writer);
  if (choice.user) next.set('user', choice.user);
  if (choice.sort !== 'newest') next.set('sort', choice.sort);
  return next;
}

/** Search parameters of the page that begins at a cursor; null: at the newest commit. */
export function paramsAt(params: URLSearchParams, cursor: string | null): URLSearchParams {
  const next = new URLSearchParams(params);
  if (cursor === null) next.delete('cursor');
  else next.set('cursor', cursor);
  return next;
}
