// When a forecast is too old to be followed. Pure.
import { duration } from '#lib/format/duration.ts';
import { instant } from '#lib/format/instant.ts';

export const FORECAST_COMMAND = 'limnograph forecast --once';
/** Forecasts are made daily: two days without one is not a pause. */
const LATE_MS = 2 * 86_400_000;

/** That a forecast is old, in a sentence; null: it is not, or there is none. */
export function staleSentence(asOf: number | null, now: number): string | null {
  if (asOf === null || now - asOf <= LATE_MS) return null;
  const age = duration(Math.round((now - asOf) / 1000));
  return `The forecast is ${age} old, of ${instant(asOf)}: what happened since is not in it. Run ${FORECAST_COMMAND}, and check the pipeline.`;
}
