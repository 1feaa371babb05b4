// When the recorded answers play: the clock stands still at six in the morning after the story.
export const NOW = Date.parse('2026-11-21T06:00:00Z');
/** The commit of the story: nineteen digits, far beyond what a JavaScript number keeps. */
export const BURST_ID = '5184430069070270604';
export const BURST_AT = Date.parse('2026-11-21T03:04:12Z');
export const TABLE = '/t/lake/sales/customer_events';
/** Midnight to six: six hours whose tenths are whole steps. */
export const NIGHT = `from=${NOW - 6 * 3_600_000}&to=${NOW}`;

/** Epoch ms of a time of that day, as `03:36` or `03:36:30`. */
export const at = (clock: string): number => Date.parse(`2026-11-21T${clock.padEnd(8, ':00')}Z`);
