// What the reader prefers, kept in this browser only. `static/theme.js` sets what is seen before the first paint.
import { setUsualRange } from '#lib/time/usual.ts';
import { isZone, UTC } from '#lib/time/zone.ts';

export interface Preferences {
  /** Keys of one letter work: chords everywhere, letters on the timeline. */
  readonly shortcuts: boolean;
  /** Where a range begins that no address names; it ends now. */
  readonly range: string;
  readonly density: 'comfortable' | 'compact';
  /** Times are shown and typed in it where no address names one: UTC, `browser`, or an IANA name. */
  readonly zone: string;
  /** Lines and fields differ by dashes and hatches too, not by colour alone. */
  readonly patterns: boolean;
}

export const RANGES = ['now-1h', 'now-3h', 'now-6h', 'now-24h', 'now-7d'] as const;
const USUAL: Preferences = {
  shortcuts: true,
  range: 'now-24h',
  density: 'comfortable',
  zone: UTC,
  patterns: false,
};
const KEY = 'limnograph.preferences';

/** Of stored text; what cannot be read is as usual. */
export function readPreferences(text: string | null): Preferences {
  try {
    const read = { ...USUAL, ...(JSON.parse(text ?? '{}') as Partial<Preferences>) };
    return {
      shortcuts: read.shortcuts !== false,
      range: (RANGES as readonly string[]).includes(read.range) ? read.range : USUAL.range,
      density: read.density === 'compact' ? 'compact' : 'comfortable',
      zone: read.zone === 'browser' || isZone(String(read.zone)) ? String(read.zone) : USUAL.zone,
      patterns: read.patterns === true,
    };
  } catch {
    return USUAL;
  }
}

function stored(): Preferences {
  try {
    return readPreferences(localStorage.getItem(KEY));
  } catch {
    return USUAL; // storage is switched off
  }
}

let chosen = $state.raw<Preferences>(stored());
const showRange = () => setUsualRange({ from: chosen.range, to: 'now' });
showRange();

export const preferences = {
  get now(): Preferences {
    return chosen;
  },
  choose(change: Partial<Preferences>): void {
    chosen = { ...chosen, ...change };
    showRange();
    const { dataset } = document.documentElement;
    for (const [name, on] of [
      ['density', chosen.density === 'compact' ? 'compact' : ''],
      ['patterns', chosen.patterns ? 'on' : ''],
    ] as const)
      if (on) dataset[name] = on;
      else delete dataset[name];
    try {
      localStorage.setItem(KEY, JSON.stringify(chosen));
    } catch {
      // storage is switched off: the choice holds until the page is left
    }
  },
};
