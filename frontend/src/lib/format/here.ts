// The reader's own time beside the zone that is shown: who is paged at night reads the clock on the wall first. Pure but for
// the browser's zone.
import { zone } from '#lib/preferences/zone.svelte.ts';

const FORMAT: Intl.DateTimeFormatOptions = {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  timeZoneName: 'short',
};

/** `20 Nov, 22:04 GMT-5`; empty where that is what is shown anyway. */
export function hereText(ms: number): string {
  const own = -new Date(ms).getTimezoneOffset() * 60_000;
  return own === zone.offset(ms) ? '' : new Intl.DateTimeFormat('en-GB', FORMAT).format(ms);
}
