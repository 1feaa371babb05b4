// What the period before had, at the same place: the dashed line of a lane and the value to compare with.
import { heldAt, sampledAt } from './bisect.ts';
import {
  holds,
  isSeries,
  mainColumn,
  type Answer,
  type Lane,
  type SeriesLane,
  type Value,
} from '#lib/api/lanes.ts';

/** The same lane of the compared period; its value `i` is at `t[i]`. Undefined when there is nothing to draw. */
export function earlierOf(answer: Answer, lane: Lane): SeriesLane | undefined {
  const found = answer.cmp?.lanes.find((each) => each.id === lane.id);
  return found && isSeries(found) && found.status !== 'absent' && found.status !== 'error'
    ? found
    : undefined;
}

/** Its value as far before `at` as the period is long; null where that is not known. */
export const earlierAt = (earlier: SeriesLane, t: readonly number[], at: number): Value =>
  holds(earlier) ? heldAt(t, mainColumn(earlier), at, Infinity) : sampledAt(t, mainColumn(earlier), at);
