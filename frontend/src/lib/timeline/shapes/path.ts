// Columns to the `d` of one path a series. A null breaks the path: a value that is not known is never drawn, least of
// all as 0. Positions come in as pixels, computed once for all lanes.
import type { CommitEvent, Value } from '#lib/api/lanes.ts';
import type { TimeScale } from '#lib/timeline/axes/scale.ts';

/** Texts of tenths of a pixel, each printed once: paths of eight lanes say the same few thousand numbers again and again. */
const TENTHS = new Array<string | undefined>(20_000);

/** A position as a path says it, to a tenth of a pixel. */
function text(px: number): string {
  const tenths = Math.round(px * 10);
  return tenths >= 0 && tenths < TENTHS.length
    ? (TENTHS[tenths] ??= String(tenths / 10))
    : String(tenths / 10);
}

/** Pixels of `t` and, last, of the end of the last step: n + 1 values. */
export function positions(t: readonly number[] | Float64Array, end: number, scale: TimeScale): Float64Array {
  const xs = new Float64Array(t.length + 1);
  for (let i = 0; i < t.length; i++) xs[i] = scale.px(t[i] as number);
  xs[t.length] = scale.px(end);
  return xs;
}

/**
 * When each bucket's value began to hold: at the heaviest commit of main since the bucket before, else at `t[i]`.
 * So a level changes exactly under the mark of its commit, not up to a step later.
 */
export function stepTimes(t: readonly number[], commits: readonly CommitEvent[]): Float64Array {
  const times = Float64Array.from(t);
  const weights = new Float64Array(t.length).fill(-1);
  let i = 0;
  for (const commit of commits) {
    if (!commit.on_main) continue;
    while (i < t.length && (t[i] as number) < commit.t) i += 1;
    const weight = weightOf(commit);
    if (i === 0 || i >= t.length || weight <= (weights[i] as number)) continue;
    weights[i] = weight;
    times[i] = commit.t;
  }
  return times;
}

/** Files that a commit added or removed, whichever are more; what is not known counts nothing. */
export const weightOf = (commit: CommitEvent): number =>
  Math.max(commit.added_data_files ?? 0, commit.removed_data_files ?? 0) + (commit.added_delete_files ?? 0);

export interface Series {
  readonly xs: Float64Array;
  readonly y: (value: number) => number;
  /** Nothing is drawn right of this pixel: not known there. */
  readonly clip: number;
}

/** First and one-past-last index of every stretch without a gap, left of `clip`. */
function* stretches(values: readonly Value[], { xs, clip }: Series): Generator<[start: number, end: number]> {
  let start = -1;
  for (let i = 0; i < values.length; i++) {
    const known = values[i] != null && (xs[i] as number) < clip;
    if (known && start < 0) start = i;
    if (!known && start >= 0) {
      yield [start, i];
      start = -1;
    }
  }
  if (start >= 0) yield [start, values.length];
}

const endOf = ({ xs, clip }: Series, end: number) => text(Math.min(xs[end] as number, clip));

/** A level that holds until the next change. With `base`, closed down to that pixel: an area. */
export function stepPath(values: readonly Value[], series: Series, base?: number): string {
  let d = '';
  for (const [start, end] of stretches(values, series)) {
    const left = text(series.xs[start] as number);
    let level = text(series.y(values[start] as number));
    d += `M${left} ${level}`;
    for (let i = start + 1; i < end; i++) {
      if (values[i] === values[i - 1]) continue;
      const next = text(series.y(values[i] as number));
      if (next === level) continue;
      d += `H${text(series.xs[i] as number)}V${next}`;
      level = next;
    }
    d += `H${endOf(series, end)}`;
    if (base !== undefined) d += `V${text(base)}H${left}Z`;
  }
  return d;
}

/** Straight lines between samples; a lone sample is a dot (round caps). With `base`: an area. */
export function linePath(values: readonly Value[], series: Series, base?: number): string {
  let d = '';
  for (const [start, end] of stretches(values, series)) {
    d += `M${points(values, series, start, end).join('L')}`;
    if (base !== undefined) d += `V${text(base)}H${text(series.xs[start] as number)}Z`;
    else if (end - start === 1) d += 'Z';
  }
  return d;
}

/** `x y` of each sample of a stretch. */
function points(values: readonly Value[], { xs, y }: Series, start: number, end: number): string[] {
  const said = new Array<string>(end - start);
  for (let i = start; i < end; i++)
    said[i - start] = `${text(xs[i] as number)} ${text(y(values[i] as number))}`;
  return said;
}

/** The area between two levels that hold. Both must be known. */
export function stepBand(low: readonly Value[], high: readonly Value[], series: Series): string {
  let d = '';
  for (const [start, end] of stretches(both(low, high), series)) {
    const left = (i: number) => text(series.xs[i] as number);
    d += `M${left(start)} ${text(series.y(high[start] as number))}`;
    for (let i = start + 1; i < end; i++) d += `H${left(i)}V${text(series.y(high[i] as number))}`;
    d += `H${endOf(series, end)}`;
    for (let i = end - 1; i >= start; i--) d += `V${text(series.y(low[i] as number))}H${left(i)}`;
    d += 'Z';
  }
  return d;
}

/** The area between two lines of samples. Both must be known. */
export function lineBand(low: readonly Value[], high: readonly Value[], series: Series): string {
  let d = '';
  for (const [start, end] of stretches(both(low, high), series)) {
    const back = points(low, series, start, end).reverse();
    d += `M${points(high, series, start, end).join('L')}L${back.join('L')}Z`;
  }
  return d;
}

/** Null where either is not known. */
const both = (low: readonly Value[], high: readonly Value[]): Value[] =>
  low.map((value, i) => (value == null ? null : (high[i] ?? null)));

/** Least and most of some columns; null when nothing is known. Positive values only, when `positive`. */
export function extent(
  columns: readonly (readonly Value[] | null)[],
  positive = false,
): readonly [least: number, most: number] | null {
  let [least, most] = [Infinity, -Infinity];
  for (const column of columns) {
    // by index: iterators take three times as long before the loop is compiled, and it runs once a drawing
    for (let i = 0; i < (column?.length ?? 0); i++) {
      const value = (column as readonly Value[])[i] as Value;
      if (value === null || (positive && value <= 0)) continue;
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  return least === Infinity ? null : [least, most];
}
