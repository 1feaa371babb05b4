// Stands in for the package `focus-trap`, which Melt's popover loads and our popovers never use (they trap nothing;
// dialogs are native and trap by themselves). Saves its and tabbable's weight in every first load.

interface Trap {
  activate(): Trap;
  deactivate(): Trap;
}

/** A trap that never holds. A wrapper that sets `focus.trap` needs the real package again. */
export function createFocusTrap(): Trap {
  const trap: Trap = { activate: () => trap, deactivate: () => trap };
  return trap;
}
