// Keys of the timeline to intents. By `code`, so that letters sit where they do on any layout. No DOM.

export type Intent =
  | { readonly do: 'move'; readonly steps: number }
  | { readonly do: 'extend'; readonly steps: number }
  | { readonly do: 'start' | 'end' | 'previous' | 'next' | 'open' | 'zoom' | 'clear' | 'compare' | 'explain' }
  | { readonly do: 'mark' | 'fit' | 'pause' | 'back' }
  | { readonly do: 'scale'; readonly by: number }
  | { readonly do: 'pan'; readonly by: number };

export interface Key {
  readonly key: string;
  readonly code: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const PAGE = 10;
const MOVES: Record<string, number> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowDown: -1,
  ArrowUp: 1,
  PageUp: PAGE,
  PageDown: -PAGE,
};
const LETTERS: Record<string, Intent> = {
  BracketLeft: { do: 'previous' },
  BracketRight: { do: 'next' },
  KeyZ: { do: 'zoom' },
  KeyC: { do: 'compare' },
  KeyE: { do: 'explain' },
  KeyM: { do: 'mark' },
  KeyF: { do: 'fit' },
  KeyW: { do: 'scale', by: 0.7 },
  KeyS: { do: 'scale', by: 1.4 },
  KeyA: { do: 'pan', by: -0.2 },
  KeyD: { do: 'pan', by: 0.2 },
};

/** Keys of the focused slider: those of a slider, Enter for the commit at the cursor, Space for the live view. */
export function sliderIntent(key: Key): Intent | null {
  if (key.ctrlKey || key.metaKey || key.altKey) return null;
  const steps = MOVES[key.key];
  if (steps !== undefined) return { do: key.shiftKey ? 'extend' : 'move', steps };
  if (key.key === 'Home') return { do: 'start' };
  if (key.key === 'End') return { do: 'end' };
  if (key.key === ' ') return { do: 'pause' };
  return key.key === 'Enter' ? { do: 'open' } : null;
}

/** Keys that work while the focus is anywhere in the timeline. */
export function letterIntent(key: Key): Intent | null {
  if ((key.ctrlKey || key.metaKey) && key.code === 'KeyZ' && !key.altKey && !key.shiftKey)
    return { do: 'back' };
  if (key.ctrlKey || key.metaKey || key.altKey) return null;
  if (key.key === 'Escape') return { do: 'clear' };
  return key.shiftKey ? null : (LETTERS[key.code] ?? null);
}
