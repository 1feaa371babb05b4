// Keys that work on every page, to actions. Letters by `code`, so that they sit where they do on any layout; `/` and `?`
// by what is typed, because every layout has them elsewhere. No DOM.
import type { Key } from '#lib/timeline/interaction/keys.ts';

export type Action =
  | 'palette'
  | 'finder'
  | 'help'
  | 'fleet'
  | 'table'
  | 'alerts'
  | 'findings'
  | 'forecasts'
  | 'commits'
  | 'maintenance'
  | 'status'
  | 'widen'
  | 'copyRange'
  | 'pasteRange'
  | 'freeze'
  | 'earlier'
  | 'later';

type Prefix = 'KeyG' | 'KeyT';
/** The first key of a chord that waits for its second. */
export interface PendingChord {
  readonly prefix: Prefix;
  /** Epoch ms at which it was pressed. */
  readonly at: number;
}

const PATIENCE_MS = 1500;
/** As Grafana has them. */
const CHORDS: Record<Prefix, Record<string, Action>> = {
  KeyG: {
    ...{ KeyF: 'fleet', KeyT: 'table', KeyI: 'findings', KeyR: 'forecasts' },
    ...{ KeyA: 'alerts', KeyC: 'commits', KeyM: 'maintenance', KeyS: 'status' },
  },
  KeyT: {
    KeyZ: 'widen',
    KeyC: 'copyRange',
    KeyV: 'pasteRange',
    KeyA: 'freeze',
    ArrowLeft: 'earlier',
    ArrowRight: 'later',
  },
};

export interface PressResult {
  readonly waiting: PendingChord | null;
  readonly action: Action | null;
  /** The key was the second of a chord: no other handler may take it. */
  readonly taken: boolean;
}
const nothing: PressResult = { waiting: null, action: null, taken: false };

/** `letters`: keys of one character are wanted. What is typed into a field must not come here, but for Ctrl or Cmd+K. */
export function press(key: Key, waiting: PendingChord | null, now: number, letters: boolean): PressResult {
  if (isPalette(key)) return { waiting: null, action: 'palette', taken: true };
  if (!letters || key.ctrlKey || key.metaKey || key.altKey) return nothing;
  if (waiting && now - waiting.at <= PATIENCE_MS) {
    const action = key.shiftKey ? undefined : CHORDS[waiting.prefix][key.code];
    if (action) return { waiting: null, action, taken: true };
  }
  if (key.key === '/') return { waiting: null, action: 'finder', taken: true };
  if (key.key === '?') return { waiting: null, action: 'help', taken: true };
  const starts = !key.shiftKey && (key.code === 'KeyG' || key.code === 'KeyT');
  return starts ? { waiting: { prefix: key.code as Prefix, at: now }, action: null, taken: false } : nothing;
}

const isPalette = (key: Key): boolean =>
  (key.ctrlKey || key.metaKey) && !key.altKey && !key.shiftKey && key.code === 'KeyK';
