// Commit marks: which are separate, which join a cluster, which get a label. Nothing is ever dropped.
import { MINUS, count, signed } from '#lib/format/count.ts';
import { clockSeconds, zoneAt } from '#lib/format/instant.ts';
import { operationName } from '#lib/ui/operation.ts';
import type { CommitEvent } from '#lib/api/lanes.ts';
import { weightOf } from './path.ts';

/** Marks nearer than this join: WCAG's 24 px target and some air. */
const NEAR_PX = 28;
/** From so many changed files on a mark earns a label when there is room. */
const WORTH_A_LABEL = 300;
const AIR_PX = 2;
/** Half of a mark's button: nothing may cover a separate mark. */
const RING_PX = 14;

export interface Mark {
  /** Middle of the mark, pixels. */
  readonly px: number;
  readonly commits: readonly CommitEvent[];
  /** The heaviest: it gives shape and label. */
  readonly top: CommitEvent;
  /** Changed files of the heaviest, or null. */
  readonly label: string | null;
}

interface Group {
  px: number;
  first: number;
  commits: CommitEvent[];
  alone: boolean;
}

/** Groups commits in time order; those whose id is in `alone` are never absorbed. */
export function cluster(
  commits: readonly CommitEvent[],
  px: (at: number) => number,
  alone: ReadonlySet<string> = new Set(),
): Mark[] {
  const groups: Group[] = [];
  let open: Group | undefined;
  for (const commit of commits) {
    const at = px(commit.t);
    const single = alone.has(commit.snapshot_id);
    if (open && !single && at - open.first < NEAR_PX) {
      open.commits.push(commit);
      continue;
    }
    const group: Group = { px: at, first: at, commits: [commit], alone: single };
    groups.push(group);
    open = single ? undefined : group;
  }
  for (const group of groups) settle(group, px);
  return label(giveWay(mergeOverlaps(groups, px)));
}

function settle(group: Group, px: (at: number) => number): void {
  const [first, last] = [group.commits[0], group.commits.at(-1)] as [CommitEvent, CommitEvent];
  group.px = (px(first.t) + px(last.t)) / 2;
}

/** Half of the width that a mark takes on screen. */
export const halfWidth = (commits: number): number =>
  commits > 99 ? 26 : commits > 9 ? 22 : commits > 1 ? 19 : 9;

/** Pills are wider than 28 px: what would overlap is joined. */
function mergeOverlaps(groups: Group[], px: (at: number) => number): Group[] {
  for (let i = 1; i < groups.length; i++) {
    const [left, right] = [groups[i - 1], groups[i]] as [Group, Group];
    const room = halfWidth(left.commits.length) + halfWidth(right.commits.length) + AIR_PX;
    if (left.alone || right.alone || right.px - left.px >= room) continue;
    left.commits.push(...right.commits);
    settle(left, px);
    groups.splice(i, 1);
    i = Math.max(0, i - 2);
  }
  return groups;
}

/** Neighbours of a mark that must stay separate move aside, so that both can be seen and pressed. */
function giveWay(groups: Group[]): Group[] {
  for (let i = 0; i < groups.length; i++) {
    if (!groups[i]?.alone) continue;
    push(groups, i, 1);
    // joining on the left shortens the list: find the place again
    const alone = groups[i] as Group;
    push(groups, i, -1);
    i = groups.indexOf(alone);
  }
  return groups;
}

/** Moves the neighbour of `groups[i]` out of its way; what it then runs into joins it. */
function push(groups: Group[], i: number, way: 1 | -1): void {
  const [alone, next] = [groups[i] as Group, groups[i + way]];
  if (!next || next.alone) return;
  const clear = alone.px + way * apart(alone, next);
  if ((next.px - clear) * way >= 0) return;
  next.px = clear;
  let after = groups[i + 2 * way];
  while (after && !after.alone && (after.px - next.px) * way < apart(next, after)) {
    next.commits = way > 0 ? [...next.commits, ...after.commits] : [...after.commits, ...next.commits];
    next.px = alone.px + way * apart(alone, next);
    groups.splice(groups.indexOf(after), 1);
    const here = groups.indexOf(next);
    after = groups[here + way];
  }
}

/** Least distance of two middles. */
const apart = (a: Group, b: Group): number => reach(a) + reach(b) + AIR_PX;
const reach = (group: Group) => Math.max(RING_PX, halfWidth(group.commits.length));

const heaviest = (commits: readonly CommitEvent[]): CommitEvent =>
  commits.reduce((most, commit) => (weightOf(commit) > weightOf(most) ? commit : most));

/** The heaviest mark is always labelled; others from a size on, where their text has room. */
function label(groups: readonly Group[]): Mark[] {
  const marks = groups.map((group) => ({
    px: group.px,
    commits: group.commits,
    top: heaviest(group.commits),
    label: null as string | null,
  }));
  const taken: [left: number, right: number][] = [];
  const byWeight = [...marks].sort((a, b) => weightOf(b.top) - weightOf(a.top));
  for (const [rank, mark] of byWeight.entries()) {
    const weight = weightOf(mark.top);
    if (weight === 0 || (rank > 0 && weight < WORTH_A_LABEL)) break;
    const text = changeCount(mark.top);
    const half = text.length * 3.4 + 4;
    const [left, right] = [mark.px - half, mark.px + half];
    if (taken.some(([from, to]) => left < to && right > from)) continue;
    taken.push([left, right]);
    mark.label = text;
  }
  return marks;
}

/** `+50,000`, or `−49,648` when more files went than came. */
export function changeCount(commit: CommitEvent): string {
  const [added, removed] = [commit.added_data_files ?? 0, commit.removed_data_files ?? 0];
  if (added === 0 && removed === 0) return signed(commit.added_delete_files ?? 0);
  return signed(added - removed);
}

/** Radius in pixels, by the order of magnitude of changed files: one is small, ten thousand large. */
export function radius(commit: CommitEvent): number {
  const magnitude = Math.log10(1 + weightOf(commit));
  return Math.min(8, 4.5 + 0.9 * magnitude);
}

/** What the table's own expiry took: we know of it, the table no longer does. */
const EXPIRED = 'expired';

const filesText = (text: string, n: number) => `${text} ${n === 1 ? 'file' : 'files'}`;

/** One commit in a sentence: a button's name. */
export function commitText(commit: CommitEvent): string {
  const parts = [`${operationName(commit.operation)} ${clockSeconds(commit.t)} ${zoneAt(commit.t)}`];
  if (commit.added_data_files === null && commit.removed_data_files === null) parts.push('files not read');
  if (commit.added_data_files)
    parts.push(filesText(signed(commit.added_data_files), commit.added_data_files));
  if (commit.removed_data_files)
    parts.push(filesText(MINUS + count(commit.removed_data_files), commit.removed_data_files));
  if (commit.added_delete_files) parts.push(`${signed(commit.added_delete_files)} delete files`);
  if (commit.app_id) parts.push(`by ${commit.app_id}`);
  if (!commit.on_main) parts.push('not on main');
  if (commit.provisional) parts.push('just seen, not stored yet');
  if (commit.expired) parts.push(EXPIRED);
  return parts.join(', ');
}

export function markText({ commits, top }: Mark): string {
  if (commits.length === 1) return commitText(top);
  const [first, last] = [commits[0], commits.at(-1)] as [CommitEvent, CommitEvent];
  const when = `${clockSeconds(first.t)} to ${clockSeconds(last.t)} ${zoneAt(last.t)}`;
  return `${commits.length} commits ${when}, largest: ${commitText(top)}`;
}
