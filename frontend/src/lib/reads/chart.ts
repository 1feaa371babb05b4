// Skipped share and overlap depth over time as paths: two strips, one axis of time. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { timeTicks } from '#lib/timeline/axes/ticks.ts';

type Point = Schemas['ReadPoint'];

export interface Box {
  readonly width: number;
  readonly left: number;
  readonly right: number;
  /** Top and height of a strip. */
  readonly share: readonly [top: number, height: number];
  readonly depth: readonly [top: number, height: number];
}
export interface Chart {
  readonly bars: string;
  readonly line: string;
  readonly deepest: number | null;
  readonly ticks: readonly { readonly x: number; readonly at: number }[];
}

const LEAST_TICK_PX = 72;

/** `step` in seconds: a point stands for the span that begins at it. */
export function readChart(
  points: readonly Point[],
  { from, to, step }: { from: number; to: number; step: number },
  box: Box,
): Chart {
  const room = Math.max(1, box.width - box.left - box.right);
  const x = (at: number) => box.left + (Math.min(Math.max(at, from), to) - from) * (room / (to - from));
  const spans = points.map((point) => ({ ...point, x0: x(point.t), x1: x(point.t + step * 1000) }));
  const [top, height] = box.share;
  const bars = spans
    .filter((span) => span.skipped_share !== null && span.x1 > span.x0)
    .map(({ x0, x1, skipped_share: share }) => {
      const y = top + height * (1 - (share ?? 0));
      return `M${round(x0)} ${top + height}V${round(y)}H${round(Math.max(x0 + 1, x1 - 1))}V${top + height}Z`;
    });
  const depths = spans.filter((span) => span.overlap_depth !== null);
  const deepest = depths.length ? Math.max(1, ...depths.map((span) => span.overlap_depth ?? 0)) : null;
  const [low, tall] = box.depth;
  const line = depths.map(({ x0, x1, overlap_depth: depth }, i) => {
    const y = round(low + tall * (1 - (depth ?? 0) / (deepest ?? 1)));
    return `${i ? 'L' : 'M'}${round(x0)} ${y}H${round(x1)}`;
  });
  return {
    bars: bars.join(''),
    line: line.join(''),
    deepest,
    ticks: timeTicks(from, to, ((to - from) / room) * LEAST_TICK_PX).map((at) => ({ x: x(at), at })),
  };
}

const round = (value: number) => Number(value.toFixed(1));
