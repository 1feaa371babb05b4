// The fan of a forecast as paths: the 80 % interval, its median, the threshold, and where the level dropped. Pure.
import { weekday } from '#lib/format/instant.ts';
import { lineBand, linePath } from '#lib/timeline/shapes/path.ts';
import type { LaneFan } from '#lib/timeline/props.ts';

/** What a fan is drawn on. */
export interface FanGround {
  readonly px: (at: number) => number;
  readonly y: (value: number) => number;
  readonly from: number;
  readonly to: number;
}

export interface FanPaths {
  /** Empty where nothing of the fan is in view. */
  readonly band: string;
  readonly median: string;
  /** Pixels of the first point: observation ends there. */
  readonly begins: number | null;
  readonly thresholdY: number;
  /** Pixels of drops in view. */
  readonly drops: readonly number[];
}

/** Points that are needed to draw what is in view: those inside, and one on each side. */
function pointsInView(points: LaneFan['points'], { from, to }: FanGround): LaneFan['points'] {
  const first = points.findIndex(({ at }) => at >= from);
  if (first < 0) return [];
  const after = points.findIndex(({ at }) => at > to);
  return points.slice(Math.max(0, first - 1), after < 0 ? points.length : after + 1);
}

export function fanPaths(fan: LaneFan, ground: FanGround): FanPaths {
  const points = pointsInView(fan.points, ground);
  const series = {
    xs: Float64Array.from(points, ({ at }) => ground.px(at)),
    y: ground.y,
    clip: Infinity,
  };
  const begin = fan.points[0]?.at;
  return {
    band:
      points.length > 1
        ? lineBand(
            points.map(({ p10 }) => p10),
            points.map(({ p90 }) => p90),
            series,
          )
        : '',
    median:
      points.length > 1
        ? linePath(
            points.map(({ p50 }) => p50),
            series,
          )
        : '',
    begins: begin !== undefined && begin >= ground.from && begin <= ground.to ? ground.px(begin) : null,
    thresholdY: ground.y(fan.threshold),
    drops: fan.last_drops.filter((at) => at >= ground.from && at <= ground.to).map(ground.px),
  };
}

/** `forecast: 2 to 5 by Sat 28 Nov (8 of 10), threshold 3`, for those who do not see it. */
export function fanSpoken(fan: LaneFan, print: (value: number) => string): string {
  const ahead = fan.points
    .slice(1)
    .map(({ at, p10, p90 }) => `${print(p10)} to ${print(p90)} by ${weekday(at)}`);
  return `forecast: ${ahead.join(', ')} (8 of 10), threshold ${print(fan.threshold)}`;
}
