// The axis that all rows of the forest plot share: ratios on a logarithmic scale, from half to double. In per cent of its
// width, so that nothing must be measured. Pure.

const [LEAST, MOST] = [0.5, 2];
const WIDTH = Math.log(MOST / LEAST);

/** Place of a ratio, 0 to 100 within the axis, beyond where it is off it. */
const unclipped = (ratio: number): number =>
  ratio <= 0 ? -Infinity : (100 * Math.log(ratio / LEAST)) / WIDTH;
const clip = (place: number): number => Math.min(100, Math.max(0, place));

export const NO_CHANGE = unclipped(1);
/** Within which a change is called none. */
export const BAND = [unclipped(0.95), unclipped(1.05)] as const;

export interface AxisTick {
  readonly at: number;
  readonly label: string;
  /** Left out where there is little room. */
  readonly minor: boolean;
}

export const TICKS: readonly AxisTick[] = [
  [0.5, '−50 %'],
  [0.75, '−25 %'],
  [0.9, '−10 %'],
  [1, '0'],
  [1.1, '+10 %'],
  [1.33, '+33 %'],
  [2, '+100 %'],
].map(([ratio, label]) => ({
  at: unclipped(ratio as number),
  label: label as string,
  minor: ratio === 0.9 || ratio === 1.1,
}));

export interface Placed {
  /** Ends of the interval. */
  readonly from: number;
  readonly to: number;
  /** What the ends are: a bound, one beyond the axis, or none at all. */
  readonly left: 'bound' | 'clipped' | 'unbounded';
  readonly right: 'bound' | 'clipped' | 'unbounded';
  /** The estimate; null where none is shown. */
  readonly point: number | null;
  /** The estimate is beyond this end of the axis. */
  readonly beyond: 'left' | 'right' | null;
}

interface Interval {
  readonly ratio: number | null;
  readonly ratio_low: number | null;
  readonly ratio_high: number | null;
}

/** Where an interval is drawn; null: it has neither estimate nor bounds. */
export function place({ ratio, ratio_low: low, ratio_high: high }: Interval): Placed | null {
  if (ratio === null && low === null && high === null) return null;
  const [start, end] = [
    low === null ? -Infinity : unclipped(low),
    high === null ? Infinity : unclipped(high),
  ];
  const middle = ratio === null ? null : unclipped(ratio);
  return {
    from: clip(start),
    to: clip(end),
    left: low === null ? 'unbounded' : start < 0 ? 'clipped' : 'bound',
    right: high === null ? 'unbounded' : end > 100 ? 'clipped' : 'bound',
    point: middle === null ? null : clip(middle),
    beyond: middle === null ? null : middle < 0 ? 'left' : middle > 100 ? 'right' : null,
  };
}
