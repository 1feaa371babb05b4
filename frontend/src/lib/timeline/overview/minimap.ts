// The overview above the lanes: how far it reaches, how dense commits are in it, what its clicks snap to. Pure.
import { STEPS, type Span } from '#lib/time/step.ts';
import { beginOf, type Answer, type Bar as AlertBar, type CommitEvent } from '#lib/api/lanes.ts';
import { weightOf } from '#lib/timeline/shapes/path.ts';

/** All that is known of a table, small. */
export type Overview = Answer & {
  /** Epoch ms before which commits are shown in wider buckets; null: all alike. */
  readonly coarseUntil?: number | null;
};

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const REACHES: readonly number[] = [DAY, 7 * DAY, 30 * DAY];
/** A short alert is seen too. */
const LEAST_BAND_PX = 3;
/** The window fills half of the map at most, so that there is somewhere to go. */
const ROOM = 2;

export interface Reach {
  readonly from: number;
  readonly to: number;
  /** All that is known. */
  readonly whole: boolean;
}

/** The shortest of a day, a week, 30 days and everything that ends now, holds the window and leaves it room. */
export function reachOf(span: Span, first: number, now: number, whole: boolean): Reach {
  const to = Math.max(now, span.to);
  const all = Math.min(first, span.from);
  const fits = REACHES.find(
    (each) => to - each <= span.from && each >= ROOM * (span.to - span.from) && to - each > all,
  );
  if (!whole && fits !== undefined) return { from: to - fits, to, whole: false };
  return { from: Math.min(all, to - DAY), to, whole: true };
}

/** Seconds that a click snaps to: the widest step under a pixel and a half. */
export function snapOf({ from, to }: Reach, width: number): number {
  const limit = ((to - from) / Math.max(1, width)) * 1.5;
  return STEPS.findLast((step) => step * 1000 <= limit) ?? 1;
}

export interface Bar {
  /** Pixels from the left. */
  readonly x: number;
  readonly commits: number;
  /** Files that its commits added or removed. */
  readonly changed: number;
  /** Files that the largest of them changed. */
  readonly files: number;
}

/** Commits and changes by bars of `barPx` pixels; bars without any are left out. */
export function densityOf(
  events: readonly CommitEvent[],
  { from, to }: Reach,
  width: number,
  barPx: number,
): Bar[] {
  const perBar = ((to - from) / width) * barPx;
  const bars = new Map<number, Bar>();
  for (const event of events) {
    if (event.t < from || event.t >= to) continue;
    const at = Math.floor((event.t - from) / perBar);
    const before = bars.get(at) ?? { x: at * barPx, commits: 0, changed: 0, files: 0 };
    const weight = weightOf(event);
    bars.set(at, {
      x: before.x,
      commits: before.commits + event.commits,
      changed: before.changed + weight,
      files: Math.max(before.files, weight),
    });
  }
  return [...bars.values()].sort((a, b) => a.x - b.x);
}

/** A bar's share of the height: by logarithm, since one backfill must not hide a month. Commits that changed no file are
 * seen, too. */
export const heightOf = (changed: number, most: number): number =>
  0.15 + (most > 0 ? (0.85 * Math.log1p(changed)) / Math.log1p(most) : 0);

/** From here on a bar stands out: more than ten times what the middle commit changed, and a hundred at least. */
export function outlierFiles(bars: readonly Bar[]): number {
  const files = bars.map((bar) => bar.files).sort((a, b) => a - b);
  return Math.max(100, 10 * (files[Math.floor(files.length / 2)] ?? 0));
}

export interface Band {
  readonly x: number;
  readonly width: number;
}

/** Where alerts fired, as bands that do not overlap; each wide enough to be seen. Pending ones are not drawn here. */
export function alertBands(
  bars: readonly AlertBar[],
  { from, to }: Reach,
  px: (at: number) => number,
  now: number,
): Band[] {
  const bands: { x: number; width: number }[] = [];
  const inside = bars
    .filter(
      ({ state, start, end }) => state !== 'pending' && beginOf({ start, end }) < to && (end ?? now) >= from,
    )
    .sort((a, b) => beginOf(a) - beginOf(b));
  for (const { start, end } of inside) {
    const x = px(Math.max(from, beginOf({ start, end })));
    const width = Math.max(LEAST_BAND_PX, px(Math.min(to, end ?? now)) - x);
    const last = bands.at(-1);
    if (last && x <= last.x + last.width) last.width = Math.max(last.width, x + width - last.x);
    else bands.push({ x, width });
  }
  return bands;
}
