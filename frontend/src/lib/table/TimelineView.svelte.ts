// What a table page shows, as far as its URL keeps it: range, cursor, selection, open commit, lanes, job.
// Turns a URL into state and back; the page decides when history moves.
import type { TableRef } from '#lib/api/names.ts';
import { Cursor } from '#lib/state/Cursor.svelte.ts';
import { TimeRange } from '#lib/state/TimeRange.svelte.ts';
import { periodFor } from '#lib/time/period.ts';
import { absolute, resolveRange, type RangeText } from '#lib/time/range.ts';
import { namesRange, readUrl, type Baseline, type Comparison, type TimelineUrl } from '#lib/time/url.ts';
import { knownLanes } from './lanes.ts';

/** A table and how it is looked at; the same table is the same object, or all would be asked again. */
export interface TablePageContext {
  readonly ref: TableRef;
  readonly view: TimelineView;
}

/** A range of the trail, and how wide it is. */
export interface Zoom {
  readonly text: RangeText;
  readonly ms: number;
}

export class TimelineView {
  readonly range = new TimeRange();
  readonly cursor = new Cursor();
  /** Snapshot id of the open commit. */
  commit = $state<string | null>(null);
  lanes = $state.raw<readonly string[] | null>(null);
  /** Lanes on a logarithmic axis; null: as each lane is by itself. */
  log = $state.raw<readonly string[] | null>(null);
  job = $state<string | null>(null);
  /** Seconds to the period that is compared with, or the table. */
  cmp = $state<Comparison | null>(null);
  /** What stands beside the timeline; null: the open commit, else why the job changed. */
  panel = $state<TimelineUrl['panel']>(null);
  /** What an explanation compares with. */
  base = $state.raw<Baseline>('before');
  /** Branch or tag whose commits are told apart; null: main. */
  ref = $state<string | null>(null);
  /** Fingerprint of the alert that is marked. */
  alert = $state<string | null>(null);
  /** True: its window is wanted and not known yet. */
  awaits = $state(false);
  /** False: the reader paused the view. */
  follows = $state(true);
  /** Parameters of the URL that could not be read: their defaults are shown. */
  unread = $state.raw<readonly string[]>([]);
  /** True while the range changes many times in a row (wheel, held keys): nobody needs every stop of it. */
  gliding = $state(false);

  #before = $state.raw<readonly RangeText[]>([]);

  readonly url: TimelineUrl = $derived({
    range: this.range.text,
    at: this.cursor.at,
    pin: this.cursor.pin,
    marks: this.cursor.marks,
    sel: this.cursor.selection,
    commit: this.commit,
    lanes: this.lanes,
    log: this.log,
    job: this.job,
    cmp: this.cmp,
    panel: this.panel,
    base: this.base,
    ref: this.ref,
    alert: this.alert,
    live: this.follows,
  });

  /** The ranges that were zoomed into, widest first: each holds the next, the last one what is shown. */
  readonly trail: readonly Zoom[] = $derived.by(() => {
    const { range } = this.range;
    let inner: { from: number; to: number } = range;
    const found: Zoom[] = [];
    for (const text of this.#before.toReversed()) {
      const outer = resolveRange(text, this.range.now);
      if (!outer || outer.from > inner.from || outer.to < inner.to) continue;
      if (outer.to - outer.from <= inner.to - inner.from) continue;
      found.unshift({ text, ms: outer.to - outer.from });
      inner = outer;
    }
    return found;
  });

  read(query: URLSearchParams): void {
    this.range.tick();
    const { state, unread } = readUrl(query, this.range.now);
    if (state.range.from !== this.range.text.from || state.range.to !== this.range.text.to)
      this.range.text = state.range;
    this.cursor.at = state.at;
    this.cursor.pin = state.pin;
    this.cursor.marks = state.marks;
    this.cursor.selection = state.sel;
    [this.commit, this.job] = [state.commit, state.job];
    [this.log, this.cmp] = [state.log, state.cmp];
    this.panel = state.panel;
    // the same pair must stay the same object, or it would be asked again
    if (String(this.base) !== String(state.base)) this.base = state.base;
    [this.ref, this.alert, this.follows] = [state.ref, state.alert, state.live];
    this.awaits = state.alert !== null && !namesRange(query);
    this.lanes = state.lanes && knownLanes(state.lanes);
    const lost = this.lanes?.length !== state.lanes?.length;
    [this.unread, this.gliding] = [lost ? [...unread, 'lanes'] : unread, false];
  }

  /** Another range, remembered so that `back` returns. A whole glide is one step back. */
  show(text: RangeText, gliding = false): void {
    if (!(gliding && this.gliding)) this.#before = [...this.#before, this.range.text];
    this.awaits = false;
    this.gliding = gliding;
    this.range.tick();
    this.range.text = text;
  }

  zoom(from: number, to: number, gliding: boolean): void {
    this.show(absolute(from, to), gliding);
  }

  /** The period before, drawn or not; `seconds`: the one so long before. */
  compare(seconds?: number): void {
    const { from, to } = this.range.span;
    this.cmp = seconds ?? (this.cmp === null ? periodFor(to - from) : null);
  }

  /** The window of the alert that the address names; null: nobody knows it. */
  place(window: RangeText | null): void {
    if (!this.awaits) return;
    this.awaits = false;
    if (window) this.range.text = window;
    else this.unread = [...this.unread, 'alert'];
  }

  /** The range before; false when there is none. */
  back(): boolean {
    const before = this.#before.at(-1);
    if (!before) return false;
    this.#before = this.#before.slice(0, -1);
    this.gliding = false;
    this.range.text = before;
    return true;
  }

  /** A range of the trail again. */
  backTo({ text }: Zoom): void {
    this.#before = this.#before.slice(0, this.#before.lastIndexOf(text));
    this.gliding = false;
    this.range.text = text;
  }

  /** Another table: what was zoomed there means nothing here. */
  forget(): void {
    this.#before = [];
  }
}
