// An instant as a sentence names it: with its zone, and with its day where that is not today.
import { clock, clockSeconds, dayBeside, dayMonth, zoneAt } from '#lib/format/instant.ts';

/** `02:08 UTC`; `25 Nov, 02:08 UTC` on another day. */
export function moment(at: number, now: number): string {
  const day = otherDay(at, now);
  return `${day === null ? '' : `${day}, `}${clock(at)} ${zoneAt(at)}`;
}

/** `at 02:08 UTC`; `on 25 Nov at 02:08 UTC` on another day. */
export const atMoment = (at: number, now: number): string => adverb(at, now, clock);

/** The same with seconds. */
export const atExactMoment = (at: number, now: number): string => adverb(at, now, clockSeconds);

function adverb(at: number, now: number, time: (at: number) => string): string {
  const day = otherDay(at, now);
  return `${day === null ? '' : `on ${day} `}at ${time(at)} ${zoneAt(at)}`;
}

/** Null for today. */
function otherDay(at: number, now: number): string | null {
  const day = dayBeside(at, now);
  return day === dayMonth(now) ? null : day;
}
