// What all lanes share while they are drawn: the time scale, the pixels of the columns, what is known and up to where.
// One frame an answer and width; built once, not once a lane.
import type { Answer } from '#lib/api/lanes.ts';
import { commitsOf } from '#lib/api/lanes.ts';
import { positions, stepTimes } from './path.ts';
import type { Times } from './readout.ts';
import type { TimeScale } from '#lib/timeline/axes/scale.ts';

/** The usual lag of a second or a minute is not worth a hatch. */
const LEAST_HATCH_PX = 2;

export interface Frame extends Times {
  readonly scale: TimeScale;
  /** Pixels of samples, and of the end of the last step. */
  readonly xs: Float64Array;
  /** Pixels at which levels begin to hold. */
  readonly heldXs: Float64Array;
  /** Pixel of the watermark when it is left of the right edge: beyond, metadata is not read yet. */
  readonly unreadFrom: number | null;
  /** The present, epoch ms: ages count back from it. */
  readonly now: number;
  /** Pixel of the present. */
  readonly nowPx: number;
  /** `d` of the vertical time grid per pixel of height: ordinary and major lines. */
  readonly grid: readonly [minor: string, major: string];
}

/** What an answer says about its instants, at any width. Without a watermark, what came is what is known. */
export const timesOf = (answer: Answer): Times => ({
  t: answer.t,
  held: stepTimes(answer.t, commitsOf(answer)),
  end: answer.watermark ?? answer.range.to,
});

/** `now` epoch ms. A watermark of null means that no pass has read anything yet. */
export function frameOf(answer: Answer, scale: TimeScale, now: number, times = timesOf(answer)): Frame {
  const end = answer.watermark ?? 0;
  const edgePx = scale.px(Math.min(Math.max(end, scale.from), scale.to));
  const nowPx = scale.px(Math.min(now, scale.to));
  return {
    ...times,
    scale,
    xs: positions(times.t, answer.range.to, scale),
    heldXs: positions(times.held, answer.range.to, scale),
    unreadFrom: nowPx - edgePx >= LEAST_HATCH_PX ? edgePx : null,
    now,
    nowPx,
    grid: [gridPath(scale, false), gridPath(scale, true)],
  };
}

function gridPath(scale: TimeScale, major: boolean): string {
  return scale.ticks
    .filter((tick) => tick.major === major)
    .map((tick) => `M${crisp(tick.px)} 0V400`)
    .join('');
}

/** The middle of a pixel: a one-pixel line there is sharp. */
export const crisp = (px: number): number => Math.round(px) + 0.5;
