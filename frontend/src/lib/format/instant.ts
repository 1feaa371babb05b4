// Instants as text, always UTC, 24 h; from epoch milliseconds. Dates carry their month's name: 21/11 would be ambiguous.
import { NOT_READ } from './count.ts';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const pad = (value: number) => String(value).padStart(2, '0');

/** `03:04` */
export function clock(ms: number): string {
  const date = new Date(ms);
  return `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}`;
}

/** `03:04:12` */
export const clockSeconds = (ms: number): string => `${clock(ms)}:${pad(new Date(ms).getUTCSeconds())}`;

/** `21 Nov` */
export function dayMonth(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

/** `Sat 21 Nov` */
export const weekday = (ms: number): string => `${DAYS[new Date(ms).getUTCDay()]} ${dayMonth(ms)}`;

/** `21 Nov 2026, 03:04:12 UTC`: unambiguous anywhere; `not read` for what is not known. */
export function instant(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOT_READ;
  return `${dayMonth(ms)} ${new Date(ms).getUTCFullYear()}, ${clockSeconds(ms)} UTC`;
}

/** `2026-11-21T03:04:12Z`, with milliseconds only where there are any. */
export const iso = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

/** `00:00 – 06:00`, with days where the two ends differ in day. */
export function span(fromMs: number, toMs: number): string {
  const days = weekday(fromMs) !== weekday(toMs);
  const print = (ms: number) => (days ? `${dayMonth(ms)} ${clock(ms)}` : clock(ms));
  return `${print(fromMs)} – ${print(toMs)}`;
}
