// Where the page takes notes on what is selected on its timeline: null while it takes none.
let focus = $state.raw<(() => void) | null>(null);

export const notePlace = {
  /** Moves the focus there. */
  get focus(): (() => void) | null {
    return focus;
  },
  /** Returns what withdraws the place. */
  offer(move: () => void): () => void {
    focus = move;
    return () => {
      if (focus === move) focus = null;
    };
  },
};
