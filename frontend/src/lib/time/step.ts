// Steps and snapping, the same rule as the server's `domain/time.py`, so that cache keys repeat and edges agree.

export const MAX_POINTS = 2000;
/** Seconds; all divide a UTC day. */
export const STEPS: readonly number[] = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400,
];
/** The narrowest window that can be zoomed to. */
export const MIN_WIDTH_MS = 60_000;
/** The widest: the retention of hourly roll-ups. The server's status has it (`keepHours`); until then its default
 * setting. */
export let MAX_WIDTH_MS = 400 * 86_400_000;

export function keepHours(days: number): void {
  MAX_WIDTH_MS = Math.min(days, MAX_POINTS) * 86_400_000;
}

/** A window `[from, to)` in epoch milliseconds, both multiples of `step` seconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** Smallest step (seconds) that keeps `widthMs` within `points` points; a day at most. */
export function chooseStep(widthMs: number, points = 720): number {
  return STEPS.find((step) => widthMs <= step * 1000 * points) ?? 86_400;
}

/** Snaps outwards to a chosen step; a window narrower than the least is widened around its middle. */
export function snapSpan(from: number, to: number, points?: number): Span {
  if (to - from < MIN_WIDTH_MS) {
    const middle = (from + to) / 2;
    return snapSpan(middle - MIN_WIDTH_MS / 2, middle + MIN_WIDTH_MS / 2, points);
  }
  const step = chooseStep(to - from, points);
  const width = step * 1000;
  return { from: Math.floor(from / width) * width, to: Math.ceil(to / width) * width, step };
}

/** The multiple of `step` seconds nearest to an instant. */
export const snapTo = (ms: number, step: number): number => Math.round(ms / (step * 1000)) * step * 1000;
