// Which snapshot's files the maintenance page of a table shows, and how its address says it. Pure.
import type { TableRef } from '#lib/api/names.ts';
import { tableMaintenancePath } from '#lib/maintenance/words.ts';
import { findUnknownValues } from '#lib/state/unknown-values.ts';

export const CURRENT = 'current';
const ID = /^-?\d{1,19}$/;
const PARAMETER = 'files';

const isChoice = (text: string) => text === CURRENT || ID.test(text);

/** A snapshot id, or `current`: that of main's current snapshot. Null: no files are shown. */
export function filesOf(params: URLSearchParams): string | null {
  const text = params.get(PARAMETER) ?? '';
  return isChoice(text) ? text : null;
}

/** The parameter, if its value cannot be read. */
export const unreadFiles = (params: URLSearchParams): string[] =>
  findUnknownValues(params, { [PARAMETER]: isChoice });

/** The page with the files of a snapshot; null: without files. Parameters of others stay. */
export function filesHref(ref: TableRef, choice: string | null, params = new URLSearchParams()): string {
  const next = new URLSearchParams(params);
  if (choice === null) next.delete(PARAMETER);
  else next.set(PARAMETER, choice);
  return `${tableMaintenancePath(ref)}${next.size ? `?${next}` : ''}`;
}
