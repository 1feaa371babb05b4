// The value of a lane at an instant, as the read-outs, the slider's text and the table say it. Null is not known.
import type { Value } from '#lib/api/lanes.ts';

/** Last index with `t[i] <= at`; -1 before the first. */
export function lastIndex(t: ArrayLike<number>, at: number): number {
  let [low, high] = [0, t.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((t[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A level that holds: the newest at or before `at`; none after `end`. `t` as `stepTimes` gives it. */
export function heldAt(t: ArrayLike<number>, values: readonly Value[], at: number, end: number): Value {
  const i = at > end ? -1 : lastIndex(t, at);
  return i < 0 ? null : (values[i] ?? null);
}

/** A sampled value: the nearest sample, at most one step away, never a value in between. */
export function sampledAt(t: ArrayLike<number>, values: readonly Value[], at: number): Value {
  const i = lastIndex(t, at);
  const step = t.length > 1 ? (t[1] as number) - (t[0] as number) : 0;
  const [before, after] = [i, i + 1];
  const far = (j: number) => (j < 0 || j >= t.length ? Infinity : Math.abs((t[j] as number) - at));
  const nearest = far(after) < far(before) ? after : before;
  return far(nearest) > step ? null : (values[nearest] ?? null);
}
