// Where what caused a finding is shown: its commit, or of several the list of them, the largest first. Pure.
import { commitPath, tablePath, type TableRef } from '#lib/api/names.ts';
import { causingCommit, refOf, type Finding } from './words.ts';

const MINUTE_MS = 60_000;
/** A burst is commits of one writer within five minutes. */
const BEFORE_MS = 5 * MINUTE_MS;
const AFTER_MS = 30 * MINUTE_MS;

export interface CauseLink {
  readonly href: string;
  /** What it opens, after "Open" or "Open the". */
  readonly what: string;
}

/** Null: no commit caused the finding, or none is known. */
export function causeLink(finding: Finding, table: TableRef | null = refOf(finding)): CauseLink | null {
  const commit = causingCommit(finding);
  if (!table || !commit) return null;
  const { snapshot_ids: ids = [], writer } = finding.cause ?? {};
  if (ids.length < 2) return { href: commitPath(table, commit), what: 'commit' };
  const query = new URLSearchParams({
    from: String(finding.opened_at - BEFORE_MS),
    to: String(finding.opened_at + AFTER_MS),
    sort: 'files',
  });
  if (writer) query.set('writer', writer);
  return { href: `${tablePath(table)}/commits?${query}`, what: 'commits' };
}
