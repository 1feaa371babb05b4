// What the refs page says of branches and tags. Draws nothing.
import type { Schemas } from '#lib/api/client.ts';
import { count } from '#lib/format/count.ts';
import { duration } from '#lib/format/duration.ts';

type Ref = Schemas['RefRow'];
type Retention = Schemas['Retention'];

const SAID_BY = { ref: 'ref setting', table: 'table setting', default: 'Iceberg default' } as const;
const said = (by: keyof typeof SAID_BY | null) => (by ? ` (${SAID_BY[by]})` : '');
const days = (ms: number) => duration(ms / 1000);

/** What expiry keeps because of a ref, rule by rule, each with who says it. */
export function rules(type: Ref['type'], kept: Retention | null): string[] {
  if (!kept) return [];
  const found: string[] = [];
  if (type === 'branch' && kept.min_snapshots_to_keep !== null)
    found.push(`newest ${count(kept.min_snapshots_to_keep)}${said(kept.min_snapshots_said_by)}`);
  if (type === 'branch' && kept.max_snapshot_age_ms !== null)
    found.push(`last ${days(kept.max_snapshot_age_ms)}${said(kept.max_age_said_by)}`);
  if (kept.max_ref_age_said_by)
    found.push(
      kept.max_ref_age_ms === null
        ? `the ref forever${said(kept.max_ref_age_said_by)}`
        : `the ref for ${days(kept.max_ref_age_ms)}${said(kept.max_ref_age_said_by)}`,
    );
  return found;
}

/** `2 ahead, 3 behind main`, `at main`; main itself has nothing to say. */
export function distance({ name, ahead, behind }: Ref): string {
  if (name === 'main') return '';
  if (ahead === null || behind === null) return 'unknown';
  if (!ahead && !behind) return 'same as main';
  return [ahead && `${count(ahead)} ahead`, behind && `${count(behind)} behind`].filter(Boolean).join(', ');
}

const MOVES: Record<Schemas['RefMove']['kind'], string> = {
  created: 'Created',
  advanced: 'Advanced',
  rolled_back: 'Rolled back',
  moved: 'Moved',
  removed: 'Removed',
};
export const moveName = (kind: Schemas['RefMove']['kind']): string => MOVES[kind];

/** The refs in a sentence. */
export function headline(page: Schemas['RefsPage']): string {
  const back = page.moves.find((move) => move.kind === 'rolled_back' && move.name === 'main');
  if (back) return 'main was rolled back; see Ref history for details.';
  const [branches, tags] = (['branch', 'tag'] as const).map(
    (type) => page.refs.filter((ref) => ref.type === type).length,
  );
  const some = (n: number | undefined, one: string, many: string) => `${count(n)} ${n === 1 ? one : many}`;
  return `${some(branches, 'branch', 'branches')}, ${some(tags, 'tag', 'tags')}.`;
}
