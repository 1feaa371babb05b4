// The zone that times are shown and typed in: the one the address names, else the one the reader chose, else UTC.
import { instantOf, isZone, offsetOf, UTC } from '#lib/time/zone.ts';
import { preferences } from './preferences.svelte.ts';

let named = $state<string | null>(null);

/** The zone that this browser lives in. */
export const browserZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const known = (name: string): string => (isZone(name) ? name : UTC);

export const zone = {
  /** IANA name, as headings say it. */
  get name(): string {
    const chosen = named ?? preferences.now.zone;
    return chosen === 'browser' ? known(browserZone()) : chosen;
  },
  /** Whether the address names it, so that everybody who opens it sees the same clock. */
  get pinned(): boolean {
    return named !== null;
  },
  /** The zone of the address; an unknown name counts as none. */
  read(text: string | null): void {
    named = text !== null && isZone(text) ? text : null;
  },
  /** Milliseconds ahead of UTC at an instant. */
  offset: (at: number): number => offsetOf(zone.name, at),
  /** The instant at which the clock shows `wall`. */
  instant: (wall: number): number => instantOf(zone.name, wall),
};
