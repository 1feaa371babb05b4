// The time range of a page: what its URL says, resolved against a clock that only `tick` moves. Knows no URL.
import { DEFAULT_RANGE, resolveRange, type Range, type RangeText } from '#lib/time/range.ts';
import { snapSpan, type Span } from '#lib/time/step.ts';

export class TimeRange {
  text = $state.raw<RangeText>(DEFAULT_RANGE);
  #now = $state(Date.now());

  /** Epoch ms, not snapped. */
  readonly range: Range = $derived(
    resolveRange(this.text, this.#now) ?? (resolveRange(DEFAULT_RANGE, this.#now) as Range),
  );
  readonly #snapped = $derived(snapSpan(this.range.from, this.range.to));
  /** Snapped to its step: the range requested and drawn. The same object as long as nothing moved by a step. */
  readonly span: Span = $derived.by(() => {
    const { from, to, step } = this.#snapped;
    return this.#kept?.from === from && this.#kept.to === to ? this.#kept : (this.#kept = { from, to, step });
  });
  #kept: Span | undefined;

  get now(): number {
    return this.#now;
  }

  /** Moves a relative range up to the present. */
  tick(now = Date.now()): void {
    this.#now = now;
  }
}
