// The value axis of a lane: all that is drawn in it fits, and the changes under a count of files have room.
import { mainColumn, medianOf, type SeriesLane, type Value } from '#lib/api/lanes.ts';
import type { Look } from './lane-style.ts';
import type { LaneFan } from '#lib/timeline/props.ts';
import { extent } from './path.ts';
import { valueScale, type ValueScale } from '#lib/timeline/axes/scale.ts';

/** Room of the changes at the foot of a lane, pixels. */
const DELTAS_PX = 29;

export interface Room {
  readonly height: number;
  /** As on a narrow screen: less air. */
  readonly compact: boolean;
  /** Changes per commit are at the foot. */
  readonly withDeltas: boolean;
}

/** A limit so many times above all that is drawn would press it flat: then it is not on the axis. */
const FAR = 2.5;

/** The rule line of a lane while it is near what is drawn; null: none. */
function ruleOf(lane: SeriesLane, columns: readonly (readonly Value[] | null)[]): number | null {
  if (lane.kind === 'step') return null;
  const target = lane.target ?? null;
  if (target === null || lane.kind === 'band') return target;
  const most = extent(columns)?.[1] ?? 0;
  return target <= FAR * most ? target : null;
}

/** `earlier`: the compared period's, drawn on the same axis; so is `fan`. */
export function valuesOf(
  lane: SeriesLane,
  look: Look,
  room: Room,
  earlier?: SeriesLane,
  fan?: LaneFan,
): ValueScale {
  const columns = lane.kind === 'band' ? [lane.lo, lane.mid, lane.hi] : [lane.v, lane.min, lane.max];
  const target = ruleOf(lane, columns);
  const found = extent(
    [
      ...columns,
      medianOf(lane) ?? null,
      ...(target === null ? [] : [[target]]),
      ...(earlier ? [mainColumn(earlier)] : []),
      ...(fan ? [fan.points.map(({ p90 }) => p90), [fan.threshold]] : []),
    ],
    look.log,
  );
  return valueScale({
    extent: found,
    height: room.height,
    top: room.compact ? 6 : target === null && !fan ? 10 : 18,
    bottom: room.withDeltas ? DELTAS_PX : room.compact ? 5 : 8,
    log: look.log,
    unit: look.axisUnit(found?.[1] ?? 0),
  });
}
