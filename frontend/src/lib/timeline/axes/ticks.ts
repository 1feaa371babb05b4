// Round numbers and round instants for axes.

/** What turns instants into what a clock shows, and back. */
interface WallClock {
  /** Milliseconds ahead of UTC at an instant. */
  readonly offset: (at: number) => number;
  readonly instant: (wall: number) => number;
}
const UTC_CLOCK: WallClock = { offset: () => 0, instant: (wall) => wall };

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Monday: weeks start there. */
const MONDAY = 4 * DAY;

/** Usual steps of time, up to a week, in ms. Months and years differ in length and follow by the calendar. */
const TIME_STEPS: readonly number[] = [
  ...[1, 5, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 5, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7].map((days) => days * DAY),
];
const MONTH_STEPS: readonly number[] = [1, 3, 6, 12, 24, 60, 120, 240];
const MONTH_MS = 30.4 * DAY;

/** Instants in `[from, to]` on round times of a clock, at least `leastMs` apart as far as months are equally long. */
export function timeTicks(from: number, to: number, leastMs: number, clock = UTC_CLOCK): number[] {
  const step = TIME_STEPS.find((each) => each >= leastMs);
  if (step === undefined) {
    const months = MONTH_STEPS.find((each) => each * MONTH_MS >= leastMs);
    return monthTicks(from, to, months ?? (MONTH_STEPS.at(-1) as number), clock);
  }
  const shift = step === 7 * DAY ? MONDAY : 0;
  const begin = from + clock.offset(from);
  const first = Math.ceil((begin - shift) / step) * step + shift;
  const ticks: number[] = [];
  // an hour that a clock shows twice has its ticks twice; days are as long as the clock makes them
  if (step <= HOUR) for (let at = first - clock.offset(from); at <= to; at += step) ticks.push(at);
  else for (let wall = first, at; (at = clock.instant(wall)) <= to; wall += step) ticks.push(at);
  return ticks;
}

function monthTicks(from: number, to: number, months: number, clock: WallClock): number[] {
  const start = new Date(from + clock.offset(from));
  const first = start.getUTCFullYear() * 12 + start.getUTCMonth();
  const ticks: number[] = [];
  for (let month = Math.floor(first / months) * months; ; month += months) {
    const at = clock.instant(Date.UTC(Math.floor(month / 12), month % 12));
    if (at > to) return ticks;
    if (at >= from) ticks.push(at);
  }
}

/** 1, 2 or 5 times a power of ten, so that about `count` of it make `size`. */
function roundStep(size: number, count: number): number {
  const rough = size / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const rest = rough / power;
  // nearest on a scale of ratios: the borders are the roots of 1·2, 2·5 and 5·10
  const factor = rest >= Math.sqrt(50) ? 10 : rest >= Math.sqrt(10) ? 5 : rest >= Math.SQRT2 ? 2 : 1;
  return factor * power;
}

/**
 * Round numbers a step apart, about `count` steps, from at or below `low` to at or above `high`: the first and the last
 * are the ends of an axis. `low < high`.
 */
export function valueTicks(low: number, high: number, count: number): number[] {
  const step = roundStep(high - low, count);
  const steps = (value: number) => Number((value / step).toPrecision(12));
  const [first, last] = [Math.floor(steps(low)), Math.ceil(steps(high))];
  return Array.from({ length: last - first + 1 }, (_, i) => exact(first + i, step));
}

/** `times · step` without the noise of binary fractions: 3 · 0.1 is 0.3. */
const exact = (times: number, step: number) => (step < 1 ? times / Math.round(1 / step) : times * step);
