// Light, dark or as the system has it. `static/theme.js` sets a stored choice before the first paint.

export type Theme = 'system' | 'light' | 'dark';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const KEY = 'limnograph.theme';

function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system'; // storage is switched off
  }
}

let chosen = $state<Theme>(stored());

export const theme = {
  get chosen(): Theme {
    return chosen;
  },
  /** The one that a click chooses next. */
  get next(): Theme {
    return THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length] ?? 'system';
  },
  choose(wanted: Theme): void {
    chosen = wanted;
    const { dataset } = document.documentElement;
    if (wanted === 'system') delete dataset['theme'];
    else dataset['theme'] = wanted;
    try {
      if (wanted === 'system') localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, wanted);
    } catch {
      // storage is switched off: the choice holds until the page is left
    }
  },
};
