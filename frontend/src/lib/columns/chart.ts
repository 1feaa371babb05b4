// Null share and bounds of one column over time as paths: two strips, one axis of time. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { timeTicks } from '#lib/timeline/axes/ticks.ts';

type Point = Schemas['ColumnPoint'];

export interface Box {
  readonly width: number;
  readonly left: number;
  readonly right: number;
  /** Top and height of a strip. */
  readonly share: readonly [top: number, height: number];
  readonly bounds: readonly [top: number, height: number];
}
export interface Chart {
  readonly line: string;
  readonly dots: readonly { readonly x: number; readonly y: number }[];
  /** A vertical stroke from the lower to the upper bound of each point. */
  readonly strokes: string;
  /** Outermost bounds; null where no point has both. */
  readonly least: number | null;
  readonly most: number | null;
  /** Top of the axis of shares, 0 to 1. */
  readonly top: number;
  readonly ticks: readonly { readonly x: number; readonly at: number }[];
}

const LEAST_TICK_PX = 72;
const LEAST_STROKE_PX = 2;
const TOPS = [0.01, 0.05, 0.1, 0.25, 0.5, 1] as const;

/** `step` in seconds: a point is drawn in the middle of its span; null: each point is a commit. */
export function columnChart(
  points: readonly Point[],
  { from, to, step }: { from: number; to: number; step: number | null },
  box: Box,
): Chart {
  const room = Math.max(1, box.width - box.left - box.right);
  const x = (at: number) =>
    round(box.left + (Math.min(Math.max(at, from), to) - from) * (room / (to - from)));
  const placed = points.map((point) => ({ ...point, x: x(point.t + (step ?? 0) * 500) }));
  const shares = placed.flatMap(({ x: at, null_share: share }) => (share === null ? [] : [{ at, share }]));
  const highest = Math.max(0, ...shares.map(({ share }) => share));
  const top = TOPS.find((each) => each >= highest) ?? 1;
  const dots = shares.map(({ at, share }) => ({
    x: at,
    y: round(box.share[0] + box.share[1] * (1 - share / top)),
  }));
  const ranges = placed.flatMap(({ x: at, lower, upper }) =>
    lower === null || upper === null ? [] : [{ at, lower, upper }],
  );
  const least = ranges.length ? Math.min(...ranges.map(({ lower }) => lower)) : null;
  const most = ranges.length ? Math.max(...ranges.map(({ upper }) => upper)) : null;
  const [low, tall] = box.bounds;
  const y = (value: number) =>
    least === null || most === null || most === least
      ? low + tall / 2
      : low + tall * (1 - (value - least) / (most - least));
  const strokes = ranges.map(({ at, lower, upper }) => {
    const middle = (y(lower) + y(upper)) / 2;
    const half = Math.max(LEAST_STROKE_PX, y(lower) - y(upper)) / 2;
    return `M${at} ${round(middle + half)}V${round(middle - half)}`;
  });
  return {
    line: dots.map(({ x: at, y: height }, i) => `${i ? 'L' : 'M'}${at} ${height}`).join(''),
    ...{ dots, strokes: strokes.join(''), least, most, top },
    ticks: timeTicks(from, to, ((to - from) / room) * LEAST_TICK_PX).map((at) => ({ x: x(at), at })),
  };
}

const round = (value: number) => Number(value.toFixed(1));
