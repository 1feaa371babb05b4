// What rules, actions and engines of maintenance are called, and where its pages are. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { tablePath, type TableRef } from '#lib/api/names.ts';

export type Plan = Schemas['Recommendation'];
export type MaintenanceRow = Schemas['MaintenanceRow'];
export type TableAdvice = Schemas['TableMaintenance'];
export type Estimate = Schemas['Estimate'];

/** What a rule's plan does, as an imperative. */
const RULES: Record<string, string> = {
  compact: 'Compact small files',
  compact_deletes: 'Compact deleted rows',
  position_deletes: 'Rewrite position deletes',
  manifests: 'Rewrite manifests',
  expire: 'Expire snapshots',
  metadata_versions: 'Delete old metadata files',
  orphans: 'Remove orphan files',
  cluster: 'Cluster data',
  writer: 'Change the writer',
  delta_compact: 'Compact small files (Delta)',
  delta_purge: 'Purge deleted rows (Delta)',
  delta_vacuum: 'Vacuum (Delta)',
  hudi_compact: 'Compact delta logs (Hudi)',
  hudi_clean: 'Clean old file versions (Hudi)',
  hudi_cluster: 'Cluster data (Hudi)',
  held_bytes: 'Held bytes',
};

/** `old_rule` becomes `Old rule`: a rule that this version does not know. */
function plain(name: string): string {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const ruleName = (rule: string): string => RULES[rule] ?? plain(rule);

const ACTIONS: Record<string, string> = {
  rewrite_data_files: 'compaction',
  rewrite_position_delete_files: 'rewrite of delete files',
  rewrite_manifests: 'rewrite of manifests',
  expire_snapshots: 'snapshot expiry',
  remove_orphan_files: 'removal of orphan files',
  optimize: 'optimize',
  vacuum: 'vacuum',
  set_properties: 'table properties',
};

/** `compaction`; an action without a name of its own is shown as it is. */
export const actionName = (action: string): string => ACTIONS[action] ?? action;

export const ENGINES = ['spark', 'trino', 'python'] as const;
export type Engine = (typeof ENGINES)[number];

/** The library that runs the Python statement depends on the format of the table. */
export function engineName(engine: Engine, format: string | null): string {
  if (engine === 'spark') return 'Spark';
  if (engine === 'trino') return 'Trino';
  if (format === 'delta') return 'deltalake';
  return format === 'iceberg' ? 'PyIceberg' : 'Python';
}

/** Whether the plan does work that takes time and costs money. */
export const isWork = ({ action }: Pick<Plan, 'action'>): boolean => action !== 'set_properties';

/** Actions that `limnograph maintain` can run; all others are advice. */
const EXECUTABLE = new Set([
  ...['rewrite_data_files', 'rewrite_position_delete_files', 'rewrite_manifests', 'expire_snapshots'],
  ...['remove_orphan_files', 'optimize', 'vacuum'],
]);
export const isExecutable = ({ action }: Pick<Plan, 'action'>): boolean => EXECUTABLE.has(action);

/** Conditions that do not hold. */
export const openGuards = ({ guards }: Pick<Plan, 'guards'>): Schemas['PlanGuard'][] =>
  guards.filter(({ ok }) => !ok);

/** The page with the advice of one table. */
export const tableMaintenancePath = (ref: TableRef): string => `${tablePath(ref)}/maintenance`;
