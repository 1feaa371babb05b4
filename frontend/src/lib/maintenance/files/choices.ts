// Snapshots that the page of a table's files offers: main's current one, those of branches and tags, and the chosen one. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { CURRENT } from './address.ts';

export type SnapshotRef = Pick<Schemas['RefRow'], 'name' | 'type' | 'snapshot_id'>;

export interface SnapshotChoice {
  readonly value: string;
  readonly label: string;
}

/** A snapshot that several refs name is offered once, with all names. */
export function choicesOf(refs: readonly SnapshotRef[], chosen: string): SnapshotChoice[] {
  const names = new Map<string, string[]>();
  for (const { name, type, snapshot_id: id } of refs) {
    if (name === 'main' && type === 'branch') continue;
    names.set(id, [...(names.get(id) ?? []), `${type} ${name}`]);
  }
  const found = [...names].map(([value, each]) => ({ value, label: each.join(', ') }));
  const other = chosen !== CURRENT && !names.has(chosen) ? [{ value: chosen, label: chosen }] : [];
  return [{ value: CURRENT, label: 'current' }, ...other, ...found];
}
