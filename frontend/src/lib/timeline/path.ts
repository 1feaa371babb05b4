// Columns to the `d` of one path a series. A null breaks the path: a value that is not known is never drawn, least of
// all as 0. Positions come in as pixels, computed once for all lanes.
import type { CommitEvent, Value } from './lane.ts';
import type { TimeScale } from './scale.ts';

const round = (px: number) => Math.round(px * 10) / 10;

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

const endOf = ({ xs, clip }: Series, end: number) => round(Math.min(xs[end] as number, clip));

/** A level that holds until the next change. With `base`, closed down to that pixel: an area. */
export function stepPath(values: readonly Value[], series: Series, base?: number): string {
  let d = '';
  for (const [start, end] of stretches(values, series)) {
    const left = round(series.xs[start] as number);
    let level = round(series.y(values[start] as number));
    d += `M${left} ${level}`;
    for (let i = start + 1; i < end; i++) {
      const next = round(series.y(values[i] as number));
      if (next === level) continue;
      d += `H${round(series.xs[i] as number)}V${next}`;
      level = next;
    }
    d += `H${endOf(series, end)}`;
    if (base !== undefined) d += `V${round(base)}H${left}Z`;
  }
  return d;
}

/** Straight lines between samples; a lone sample is a dot (round caps). With `base`: an area. */
export function linePath(values: readonly Value[], series: Series, base?: number): string {
  let d = '';
  for (const [start, end] of stretches(values, series)) {
    const point = (i: number) => pointAt(series, i, values[i] as number);
    d += there(start, end, point);
    if (base !== undefined) d += `V${round(base)}H${round(series.xs[start] as number)}Z`;
    else if (end - start === 1) d += 'Z';
  }
  return d;
}

const pointAt = ({ xs, y }: Series, i: number, value: number) =>
  `${round(xs[i] as number)} ${round(y(value))}`;

/** From the first point to the last. */
function there(start: number, end: number, point: (i: number) => string): string {
  let d = `M${point(start)}`;
  for (let i = start + 1; i < end; i++) d += `L${point(i)}`;
  return d;
}

/** The area between two levels that hold. Both must be known. */
export function stepBand(low: readonly Value[], high: readonly Value[], series: Series): string {
  let d = '';
  for (const [start, end] of stretches(both(low, high), series)) {
    const left = (i: number) => round(series.xs[i] as number);
    d += `M${left(start)} ${round(series.y(high[start] as number))}`;
    for (let i = start + 1; i < end; i++) d += `H${left(i)}V${round(series.y(high[i] as number))}`;
    d += `H${endOf(series, end)}`;
    for (let i = end - 1; i >= start; i--) d += `V${round(series.y(low[i] as number))}H${left(i)}`;
    d += 'Z';
  }
  return d;
}

/** The area between two lines of samples. Both must be known. */
export function lineBand(low: readonly Value[], high: readonly Value[], series: Series): string {
  let d = '';
  for (const [start, end] of stretches(both(low, high), series)) {
    d += there(start, end, (i) => pointAt(series, i, high[i] as number));
    for (let i = end - 1; i >= start; i--) d += `L${pointAt(series, i, low[i] as number)}`;
    d += 'Z';
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
    for (const value of column ?? []) {
      if (value === null || (positive && value <= 0)) continue;
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  return least === Infinity ? null : [least, most];
}
