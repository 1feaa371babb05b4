// What keys, buttons and the pointer do to cursor, selection and range. Works on instants and pixels of the plot; the
// component translates events into its calls. No DOM.
import type { Cursor } from '#lib/state/Cursor.svelte.ts';
import { MAX_WIDTH_MS, MIN_WIDTH_MS, snapTo, type Span } from '#lib/time/step.ts';
import { IDLE, between, drag, press, release, type Brush, type Ground } from './brush.ts';
import type { Intent } from './keys.ts';
import type { CommitEvent } from '#lib/api/lanes.ts';
import type { TimeScale } from '#lib/timeline/axes/scale.ts';

/** What is shown at the moment of a call. */
export interface TimelineSnapshot {
  readonly span: Span;
  readonly scale: TimeScale;
  /** The present, epoch ms: no range reaches beyond. */
  readonly now: number;
  /** Where the cursor rests, and where it would rest unmoved. */
  readonly resting: number;
  readonly newest: number;
  /** Pin A while it is in view. */
  readonly pin: number | null;
  /** Commits in view, in time order. */
  readonly commits: readonly CommitEvent[];
}

export interface TimelineActions {
  /** Another range, epoch ms. `gliding`: one of many in a row. */
  readonly range: (from: number, to: number, gliding: boolean) => void;
  readonly commit: (snapshotId: string) => void;
  readonly compare: () => void;
  /** Why the job changed in what is selected, else in what is shown. */
  readonly explain: () => void;
  /** The range before. */
  readonly back: () => void;
  /** The view follows what happens, or no longer. */
  readonly pause: () => void;
  /** No narrower, or no wider, range is shown. */
  readonly limit: (which: 'narrowest' | 'widest') => void;
  /** A mark was set or taken away there, epoch ms. */
  readonly marked: (at: number, set: boolean) => void;
}

/** A click this near to the pin takes it away. */
const NEAR_PX = 6;
/** A selection that is fitted fills so much of the window. */
const FITTED = 0.6;

export class Navigation {
  #brush: Brush = IDLE;
  /** The instant under a pointer that moves the range. */
  #held: number | null = null;

  constructor(
    readonly cursor: Cursor,
    readonly snapshot: () => TimelineSnapshot,
    readonly actions: TimelineActions,
  ) {}

  // -- range -----------------------------------------------------------------------------------------

  /** Keeps a window within its limits and out of the future. */
  show(from: number, to: number, gliding: boolean): void {
    const { now, span } = this.snapshot();
    const size = Math.min(MAX_WIDTH_MS, Math.max(MIN_WIDTH_MS, to - from));
    if (size !== to - from) this.actions.limit(size > to - from ? 'narrowest' : 'widest');
    const wanted = (from + to + size) / 2;
    const end = Math.min(wanted, Math.max(now, span.to));
    this.actions.range(Math.max(0, end - size), end, gliding);
  }

  zoomAround(middle: number, by: number, gliding: boolean): void {
    const { span } = this.snapshot();
    this.show(middle - (middle - span.from) * by, middle + (span.to - middle) * by, gliding);
  }

  zoomToSelection(): void {
    const chosen = this.cursor.selection;
    if (!chosen) return;
    this.cursor.selection = null;
    this.show(chosen[0], chosen[1], false);
  }

  /** The selection in the middle of its surroundings; it stays selected. */
  fit(): void {
    const chosen = this.cursor.selection;
    if (!chosen) return;
    const air = ((chosen[1] - chosen[0]) * (1 / FITTED - 1)) / 2;
    this.show(chosen[0] - air, chosen[1] + air, false);
  }

  /** A mark at the cursor, or away with the one that is there. */
  mark(): void {
    const { resting, span } = this.snapshot();
    const at = snapTo(resting, span.step);
    this.actions.marked(at, this.cursor.toggleMark(at));
  }

  /** Shows the commits of a cluster apart. */
  expand(members: readonly CommitEvent[]): void {
    const [first, last] = [members[0], members.at(-1)];
    if (!first || !last) return;
    const room = Math.max(MIN_WIDTH_MS / 2, (last.t - first.t) * 0.6);
    this.show(first.t - room, last.t + room, false);
  }

  open(commit: CommitEvent | undefined): void {
    if (!commit) return;
    this.cursor.at = commit.t;
    this.actions.commit(commit.snapshot_id);
  }

  // -- keys ------------------------------------------------------------------------------------------

  act(intent: Intent): void {
    switch (intent.do) {
      case 'move':
        return this.#step(intent.steps);
      case 'extend':
        return this.#extend(intent.steps);
      case 'scale':
        return this.zoomAround(this.snapshot().resting, intent.by, true);
      case 'pan':
        return this.#pan(intent.by);
      case 'zoom':
        return this.zoomToSelection();
      case 'compare':
        return this.actions.compare();
      case 'explain':
        return this.actions.explain();
      case 'clear':
        return this.#clear();
      case 'mark':
        return this.mark();
      case 'fit':
        return this.fit();
      case 'pause':
        return this.actions.pause();
      case 'back':
        return this.actions.back();
      case 'open':
        return this.open(this.snapshot().commits.findLast((commit) => commit.t <= this.snapshot().resting));
      default:
        return this.#jump(intent.do);
    }
  }

  #inside(at: number): number {
    const { span } = this.snapshot();
    return Math.min(span.to, Math.max(span.from, at));
  }

  #step(by: number): void {
    const { resting, span } = this.snapshot();
    this.cursor.at = this.#inside(snapTo(resting + by * span.step * 1000, span.step));
  }

  #extend(by: number): void {
    const { resting, span } = this.snapshot();
    this.cursor.extend(snapTo(resting, span.step), by * span.step * 1000, [span.from, span.to]);
  }

  #pan(by: number): void {
    const { span } = this.snapshot();
    const shift = (span.to - span.from) * by;
    this.show(span.from + shift, span.to + shift, true);
  }

  #jump(where: 'start' | 'end' | 'previous' | 'next'): void {
    const { span, newest, commits, resting } = this.snapshot();
    const to = {
      start: () => span.from,
      end: () => newest,
      previous: () => commits.findLast((commit) => commit.t < resting)?.t,
      next: () => commits.find((commit) => commit.t > resting)?.t,
    }[where]();
    if (to !== undefined) this.cursor.at = to;
  }

  #clear(): void {
    if (this.cursor.selection) this.cursor.selection = null;
    else if (this.cursor.pin !== null) this.cursor.pin = null;
    else this.actions.back();
  }

  // -- pointer, in pixels of the plot ------------------------------------------------------------------

  #ground(): Ground {
    const { span, scale } = this.snapshot();
    return { ...span, px: scale.px, at: scale.at };
  }

  press(px: number): void {
    this.#brush = press(px, this.cursor.selection, this.#ground());
  }

  /** Takes hold of the range: what is under the pointer stays there while it moves. */
  hold(px: number): void {
    this.#held = this.snapshot().scale.at(px);
  }

  drag(px: number): void {
    if (this.#held !== null) {
      const { span, scale } = this.snapshot();
      const by = this.#held - scale.at(px);
      return this.show(span.from + by, span.to + by, true);
    }
    if (this.#brush.mode === 'idle') return;
    const { brush, selection } = drag(this.#brush, px, this.#ground());
    this.#brush = brush;
    if (brush.mode !== 'idle' && brush.moved) this.cursor.selection = selection;
  }

  release(px: number, touch: boolean): void {
    this.#held = null;
    if (this.#brush.mode === 'idle') return;
    const { selection, clicked } = release(this.#brush, px, this.#ground());
    this.#brush = IDLE;
    if (clicked === null) this.cursor.selection = selection;
    else if (touch) this.#tap(clicked);
    else this.#click(clicked);
  }

  cancel(): void {
    this.#held = null;
    if (this.#brush.mode !== 'idle') this.cursor.selection = this.#brush.before;
    this.#brush = IDLE;
  }

  /** Pins A there; a click on the pin takes it away. */
  #click(where: number): void {
    const { pin, scale } = this.snapshot();
    const near = pin !== null && Math.abs(scale.px(pin) - scale.px(where)) < NEAR_PX;
    this.cursor.pin = near ? null : where;
    this.cursor.at = where;
  }

  /** Without dragging: the first tap sets A, the second selects up to there, the third starts over. */
  #tap(where: number): void {
    const { pin } = this.snapshot();
    const span = pin === null || this.cursor.selection ? null : between(pin, where, this.#ground());
    this.cursor.selection = span;
    if (!span) this.cursor.pin = where;
    this.cursor.at = where;
  }
}
