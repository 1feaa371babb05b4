// The one cursor of a timeline, shared by all lanes: where it rests, where the pointer is, the pin A, the
// selection, marks.
// Instants are epoch milliseconds. Knows neither pixels nor the URL.

export type Selection = readonly [from: number, to: number];

export class Cursor {
  /** Where it rests; null: at the newest known instant. */
  at = $state<number | null>(null);
  /** Under the pointer, while it is over a lane. */
  hover = $state<number | null>(null);
  /** Pin A: what differences are taken against. */
  pin = $state<number | null>(null);
  selection = $state.raw<Selection | null>(null);
  /** Marks that the reader dropped, in time order. */
  marks = $state.raw<readonly number[]>([]);

  /** Drops a mark, or takes the one there away; true when there is one now. */
  toggleMark(at: number): boolean {
    const others = this.marks.filter((each) => each !== at);
    const set = others.length === this.marks.length;
    this.marks = set ? [...others, at].sort((a, b) => a - b) : others;
    return set;
  }

  /** Where the crosshair is, given where it rests by default. */
  shown(resting: number): number {
    return this.hover ?? this.at ?? resting;
  }

  /** Moves the selection's end as Shift and an arrow do; starts one at the cursor when there is none. */
  extend(at: number, by: number, limits: Selection): void {
    const [anchor, end] = this.#ends(at);
    const moved = Math.min(limits[1], Math.max(limits[0], end + by));
    this.#anchor = anchor;
    this.selection = moved === anchor ? null : anchor < moved ? [anchor, moved] : [moved, anchor];
  }

  #anchor: number | undefined;
  #ends(at: number): [anchor: number, end: number] {
    const now = this.selection;
    if (!now) return [at, at];
    return this.#anchor === now[1] ? [now[1], now[0]] : [now[0], now[1]];
  }
}
