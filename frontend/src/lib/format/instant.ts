// Instants as text, 24 h, in the zone that is shown: UTC unless the reader chose another. From epoch milliseconds. Dates
// carry their month's name: 21/11 would be ambiguous.
import { zone } from '#lib/preferences/zone.svelte.ts';
import { bare, offsetText } from '#lib/time/zone.ts';
import { NOT_READ } from './count.ts';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const pad = (value: number) => String(value).padStart(2, '0');
/** Its UTC fields are what the zone's clock and calendar show. */
const wall = (ms: number) => new Date(ms + zone.offset(ms));

/** `03:04` */
export function clock(ms: number): string {
  const date = wall(ms);
  return `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}`;
}

/** `03:04:12` */
export const clockSeconds = (ms: number): string => `${clock(ms)}:${pad(wall(ms).getUTCSeconds())}`;

/** `21 Nov` */
export function dayMonth(ms: number): string {
  const date = wall(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

/** `21 Nov`, `21 Nov 2026` where the two instants differ in year. */
export function dayBeside(ms: number, other: number): string {
  const year = wall(ms).getUTCFullYear();
  return year === wall(other).getUTCFullYear() ? dayMonth(ms) : `${dayMonth(ms)} ${year}`;
}

/** `Sat 21 Nov` */
export const weekday = (ms: number): string => `${DAYS[wall(ms).getUTCDay()]} ${dayMonth(ms)}`;

/** What follows a time so that it is unambiguous: `UTC`, or `UTC−05`. */
export const zoneAt = (ms: number): string => offsetText(zone.offset(ms));

/** What follows a span: `UTC`, `UTC−05`, or `UTC−04 → −05` when the clock is changed within. */
export function zoneOver(fromMs: number, toMs: number): string {
  const [before, after] = [zone.offset(fromMs), zone.offset(toMs)];
  return before === after ? offsetText(before) : `UTC${bare(before)} → ${bare(after)}`;
}

/** `21 Nov 2026, 03:04:12 UTC`: unambiguous anywhere; `not read` for what is not known. */
export function instant(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOT_READ;
  return `${dayMonth(ms)} ${wall(ms).getUTCFullYear()}, ${clockSeconds(ms)} ${zoneAt(ms)}`;
}

/** `2026-11-21T03:04:12Z`, always UTC, with milliseconds only where there are any: for programs. */
export const iso = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

/** `2026-11-21 03:04`, with seconds and their parts only where there are any: as it is typed. */
export const typed = (ms: number): string =>
  wall(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/(:00)?\.000Z$|Z$/, '');

/** `00:00 – 06:00`, with days where the two ends differ in day, and years where they differ in year. */
export function span(fromMs: number, toMs: number): string {
  const [from, to] = [dayBeside(fromMs, toMs), dayBeside(toMs, fromMs)];
  return from === to
    ? `${clock(fromMs)} – ${clock(toMs)}`
    : `${from} ${clock(fromMs)} – ${to} ${clock(toMs)}`;
}

/** As `span`, with its zone. */
export const spanZoned = (fromMs: number, toMs: number): string =>
  `${span(fromMs, toMs)} ${zoneOver(fromMs, toMs)}`;
