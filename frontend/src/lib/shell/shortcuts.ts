// What the keys do, for the list of them. `code` names the intents of `timeline/interaction/keys.ts` and `chords.ts`
// in their tests.

export interface Shortcut {
  /** Keys as printed on them, separated by spaces. */
  readonly keys: string;
  readonly what: string;
}

export const SHORTCUTS: readonly (readonly [heading: string, rows: readonly Shortcut[]])[] = [
  [
    'Everywhere',
    [
      { keys: 'Ctrl K', what: 'command palette' },
      { keys: '/', what: 'find a table' },
      { keys: '?', what: 'keyboard shortcuts' },
      { keys: 'G F', what: 'fleet' },
      { keys: 'G T', what: 'last table' },
      { keys: 'G I', what: 'findings' },
      { keys: 'G R', what: 'tables at risk' },
      { keys: 'G A', what: 'alerts' },
      { keys: 'G C', what: 'commits' },
      { keys: 'G M', what: 'maintenance' },
      { keys: 'G S', what: 'status' },
    ],
  ],
  [
    'Page time range',
    [
      { keys: 'T Z', what: 'double it' },
      { keys: 'T ← →', what: 'half a window back, forward' },
      { keys: 'T A', what: 'make it absolute' },
      { keys: 'T C', what: 'copy it in Grafana format' },
      { keys: 'T V', what: 'paste one' },
    ],
  ],
  [
    'Cursor, on the timeline',
    [
      { keys: '← →', what: 'move one step' },
      { keys: 'PgUp PgDn', what: 'move ten steps' },
      { keys: 'Home End', what: 'start, end of the range' },
      { keys: '[ ]', what: 'previous, next commit' },
      { keys: 'Enter', what: 'open the commit' },
      { keys: 'M', what: 'add or remove a mark' },
      { keys: 'Space', what: 'pause or resume live updates' },
    ],
  ],
  [
    'Range, on the timeline',
    [
      { keys: 'Shift ← →', what: 'select by steps' },
      { keys: 'Z', what: 'zoom to the selection' },
      { keys: 'F', what: 'fit the selection and keep it' },
      { keys: 'E', what: 'explain the selection' },
      { keys: 'W S', what: 'zoom in, out' },
      { keys: 'A D', what: 'earlier, later' },
      { keys: 'C', what: 'compare with the previous period' },
      { keys: 'Esc', what: 'clear selection, pin, then zoom' },
      { keys: 'Ctrl Z', what: 'previous range' },
      { keys: 'Ctrl wheel', what: 'zoom at the pointer' },
      { keys: 'Shift drag', what: 'move the range' },
    ],
  ],
  ['Commit page', [{ keys: '[ ]', what: 'previous, next commit' }]],
];
