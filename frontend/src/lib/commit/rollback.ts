// The statement that takes main back to before a commit, for copying: nothing here runs it. Pure.
import type { Schemas } from '#lib/api/client.ts';

/** Names that need no quoting in SQL, so that a name cannot become a statement. */
const PLAIN = /^[A-Za-z_]\w*$/;

/** Null: not Iceberg, not on main, expired, nothing before it, or a name that would have to be quoted. */
export function rollbackSql(detail: Schemas['CommitDetail']): string | null {
  const { commit, manifest_list: manifests, expired } = detail;
  const { catalog, namespace, table, parent_id: parent, on_main: onMain } = commit;
  const plain = [catalog, ...namespace.split('.'), table].every((level) => PLAIN.test(level));
  if (!parent || !onMain || !plain || expired || manifests === null) return null;
  return `CALL ${catalog}.system.rollback_to_snapshot('${namespace}.${table}', ${parent})`;
}
