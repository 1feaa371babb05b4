// What the keys do, for the list of them. `code` names the intents of `timeline/keys.ts` and `chords.ts` in their tests.

export interface Shortcut {
  /** Keys as printed on them; a space stands between one and the next. */
  readonly keys: string;
  readonly what: string;
}

export const SHORTCUTS: readonly (readonly [heading: string, rows: readonly Shortcut[]])[] = [
  [
    'Everywhere',
    [
      { keys: 'Ctrl K', what: 'palette: tables, pages, commands' },
      { keys: '/', what: 'find a table' },
      { keys: '?', what: 'this list' },
      { keys: 'G F', what: 'fleet' },
      { keys: 'G T', what: 'the table opened last' },
      { keys: 'G A', what: 'alerts' },
      { keys: 'G C', what: 'commits' },
      { keys: 'G S', what: 'status' },
    ],
  ],
  [
    'Time range of the page',
    [
      { keys: 'T Z', what: 'twice as wide' },
      { keys: 'T ← →', what: 'half a window back, forward' },
      { keys: 'T A', what: 'fix it: no longer moves with the clock' },
      { keys: 'T C', what: 'copy it, as Grafana does' },
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
      { keys: 'M', what: 'drop a mark, or take it away' },
      { keys: 'Space', what: 'pause the live view, go on' },
    ],
  ],
  [
    'Range, on the timeline',
    [
      { keys: 'Shift ← →', what: 'select by steps' },
      { keys: 'Z', what: 'zoom to the selection' },
      { keys: 'F', what: 'fit the selection, keep it' },
      { keys: 'E', what: 'explain the selection' },
      { keys: 'W S', what: 'zoom in, out' },
      { keys: 'A D', what: 'earlier, later' },
      { keys: 'C', what: 'compare with the period before' },
      { keys: 'Esc', what: 'clear selection, then pin, then the zoom' },
      { keys: 'Ctrl Z', what: 'the range before' },
      { keys: 'Ctrl wheel', what: 'zoom at the pointer' },
      { keys: 'Shift drag', what: 'move the range' },
    ],
  ],
  ['Commit page', [{ keys: '[ ]', what: 'previous, next commit' }]],
];
