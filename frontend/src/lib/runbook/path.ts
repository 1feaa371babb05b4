// Addresses of runbooks: `/runbooks/NAME`, for a table and a commit in the query. Pure.
import type { TableRef } from '#lib/api/names.ts';

/** Whom a runbook is shown for. */
export interface RunbookSubject {
  readonly ref: TableRef;
  /** Snapshot id of the commit whose rows the statements select. */
  readonly commit: string | null;
}

export function runbookPath(name: string, ref: TableRef | null, commit: string | null): string {
  const query = new URLSearchParams({ ...ref, ...(ref && commit !== null && { commit }) }).toString();
  return `/runbooks/${encodeURIComponent(name)}${query && `?${query}`}`;
}

/** Inverse of `runbookPath`; null: no table is named. */
export function subjectOf(query: Pick<URLSearchParams, 'get'>): RunbookSubject | null {
  const [catalog, namespace, table] = ['catalog', 'namespace', 'table'].map((key) => query.get(key));
  if (!catalog || namespace == null || !table) return null;
  return { ref: { catalog, namespace, table }, commit: query.get('commit') };
}
