// The axes: one time scale that all lanes share, and a value scale a lane. Positions are affine: a product and a sum.
import { clock, dayMonth } from '#lib/format/instant.ts';
import { zone } from '#lib/preferences/zone.svelte.ts';
import { bare } from '#lib/time/zone.ts';
import { timeTicks, valueTicks } from './ticks.ts';

interface TimeTick {
  readonly at: number;
  readonly px: number;
  readonly label: string;
  readonly major: boolean;
}

export interface TimeScale {
  readonly from: number;
  readonly to: number;
  readonly width: number;
  /** Pixels from the left edge of the plot; never touches the layout. */
  readonly px: (at: number) => number;
  readonly at: (px: number) => number;
  readonly ticks: readonly TimeTick[];
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Epoch ms over `width` pixels. Labels are at least `gap` pixels apart. */
export function timeScale(from: number, to: number, width: number, gap = 66): TimeScale {
  const perMs = width / (to - from);
  const px = (at: number) => (at - from) * perMs;
  const at = (x: number) => from + x / perMs;
  return {
    from,
    to,
    width,
    px,
    at,
    ticks: width > 0 ? labelled(timeTicks(from, to, gap / perMs, zone), px) : [],
  };
}

function labelled(instants: readonly number[], px: (at: number) => number): TimeTick[] {
  const step = (instants[1] ?? Infinity) - (instants[0] ?? 0);
  const every = step < HOUR ? HOUR : step < DAY ? step * 2 : DAY;
  return instants.map((at, i) => {
    const offset = zone.offset(at);
    const label = (at + offset) % DAY === 0 ? dayMonth(at) : clock(at);
    // the clock was changed since the tick before
    const changed = i > 0 && zone.offset(instants[i - 1] as number) !== offset;
    const major = (at + offset) % every === 0;
    return { at, px: px(at), label: changed ? `${label} ${bare(offset)}` : label, major };
  });
}

interface ValueTick {
  readonly value: number;
  readonly y: number;
}

export interface ValueScale {
  readonly y: (value: number) => number;
  readonly ticks: readonly ValueTick[];
  /** Pixels of the axis' lowest value: where areas end. */
  readonly base: number;
}

export interface ValueScaleOptions {
  /** Largest and smallest value drawn; null when nothing is known. */
  readonly extent: readonly [least: number, most: number] | null;
  readonly height: number;
  readonly top: number;
  readonly bottom: number;
  readonly log?: boolean;
  /** What one unit of the axis is in the lane's unit: 60 makes ticks fall on whole minutes. */
  readonly unit?: number;
}

/** Linear from zero, so that heights can be compared; or logarithmic, of an extent above zero. */
export function valueScale(options: ValueScaleOptions): ValueScale {
  return options.log ? logScale(options) : linearScale(options);
}

/** Labels nearer than this would touch. */
const LABEL_PX = 13;

function linearScale({ extent, height, top, bottom, unit = 1 }: ValueScaleOptions): ValueScale {
  const [least, most] = extent ?? [0, 1];
  const room = height - top - bottom;
  const low = Math.min(0, least) / unit;
  const high = most / unit > low ? most / unit : low + 1;
  const round = valueTicks(low, high, room > 120 ? 4 : 2);
  const [start, end] = [round[0] as number, round.at(-1) as number];
  const perUnit = room / (end - start) / unit;
  const y = (value: number) => height - bottom - (value - start * unit) * perUnit;
  const every = Math.ceil(LABEL_PX / (room / (round.length - 1)));
  const ticks = round
    .filter((_, i) => i % every === 0)
    .map((tick) => ({ value: tick * unit, y: y(tick * unit) }));
  return { y, ticks, base: y(start * unit) };
}

function logScale({ extent, height, top, bottom }: ValueScaleOptions): ValueScale {
  const [least, most] = extent ?? [1, 10];
  const low = Math.floor(Math.log10(least) * 2) / 2;
  const high = Math.max(low + 1, Math.ceil(Math.log10(most) * 4) / 4);
  const perDecade = (height - top - bottom) / (high - low);
  const y = (value: number) => height - bottom - (Math.log10(Math.max(value, 10 ** low)) - low) * perDecade;
  const decades: number[] = [];
  for (let power = Math.ceil(low); power <= high; power++) decades.push(power);
  const every = Math.ceil(decades.length / Math.max(2, Math.floor((height - top - bottom) / 20)));
  const ticks = decades
    .filter((_, i) => i % every === 0)
    .map((power) => ({ value: 10 ** power, y: y(10 ** power) }));
  return { y, ticks, base: y(10 ** low) };
}
