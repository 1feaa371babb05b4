// Wall clocks of time zones: how far one is from UTC at an instant, and which instant it means. Zones by their IANA name.
export const UTC = 'UTC';

const DAY = 86_400_000;
/** Clocks are changed at quarters of an hour: between two of them an offset holds. */
const QUARTER = 900_000;
/** What a Date can hold. */
const LATEST = 8.64e15;
const MOST_KEPT = 4_096;

const formats = new Map<string, Intl.DateTimeFormat>();
let offsets = new Map<string, number>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const numeric = 'numeric';
  const made = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, hourCycle: 'h23', era: 'short' },
    ...{ year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric },
  });
  formats.set(zone, made);
  return made;
}

/** Whether this browser knows a zone of that name. */
export function isZone(name: string): boolean {
  try {
    return name !== '' && formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** Milliseconds that a zone's clock is ahead of UTC at an instant; 0 for what no clock shows. */
export function offsetOf(zone: string, at: number): number {
  if (zone === UTC || !(Math.abs(at) < LATEST - DAY)) return 0;
  const start = Math.floor(at / QUARTER) * QUARTER;
  const key = `${zone} ${start}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(start)
      .map((part) => [part.type, part.value]),
  );
  const of = (name: string) => Number(parts[name]);
  const year = parts['era'] === 'AD' ? of('year') : 1 - of('year');
  const wall = new Date(0);
  wall.setUTCFullYear(year, of('month') - 1, of('day'));
  wall.setUTCHours(of('hour'), of('minute'), of('second'));
  if (offsets.size >= MOST_KEPT) offsets = new Map();
  offsets.set(key, wall.getTime() - start);
  return wall.getTime() - start;
}

/**
 * The instant at which a zone's clock shows `wall` (as if it were UTC, epoch ms). The first of two when the clock is set
 * back over it; as long after the jump as `wall` lies in it when the clock is set forward over it.
 */
export function instantOf(zone: string, wall: number): number {
  const [before, after] = [wall - DAY, wall + DAY].map((near) => wall - offsetOf(zone, near)) as [
    number,
    number,
  ];
  const shows = (at: number) => at + offsetOf(zone, at) === wall;
  return shows(before) || !shows(after) ? before : after;
}

/** `UTC`, `UTC−05`, `UTC+05:30`. */
export const offsetText = (offset: number): string => `UTC${offset === 0 ? '' : bare(offset)}`;

/** `−05` or `+05:30`; `+00` for none. */
export function bare(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const pad = (value: number) => String(value).padStart(2, '0');
  const rest = minutes % 60 ? `:${pad(minutes % 60)}` : '';
  return `${offset < 0 ? '\u2212' : '+'}${pad(Math.floor(minutes / 60))}${rest}`;
}
