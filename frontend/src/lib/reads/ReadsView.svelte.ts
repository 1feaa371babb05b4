// What the page of reads keeps in its URL: the range. Becomes the server's question.
import { resolveRange, type Range, type RangeText } from '#lib/time/range.ts';
import { readUrl, writeUrl } from '#lib/time/url.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export class ReadsView {
  #query = $state.raw(new URLSearchParams());
  #now = $state(Date.now());
  readonly #read = $derived(readUrl(this.#query, this.#now));

  readonly range: Range = $derived(
    resolveRange(this.#read.state.range, this.#now) ?? {
      from: this.#now - DAY_MS,
      to: this.#now,
      relative: true,
    },
  );
  /** Names of parameters that are not known. */
  readonly unread: readonly string[] = $derived(this.#read.unread);

  get text(): RangeText {
    return this.#read.state.range;
  }

  read(query: URLSearchParams, now = Date.now()): void {
    this.#query = new URLSearchParams(query);
    this.#now = now;
  }

  tick(now = Date.now()): void {
    this.#now = now;
  }

  /** Whole minutes, so that a repeated request within one is the same. */
  get question(): { from: number; to: number } {
    const minute = (ms: number) => Math.ceil(ms / MINUTE_MS) * MINUTE_MS;
    const to = minute(this.range.to);
    return { from: to - Math.max(MINUTE_MS, minute(this.range.to - this.range.from)), to };
  }

  /** `more`: further parameters. */
  withRange(range: RangeText, more: Record<string, string> = {}): string {
    const others = new URLSearchParams([...this.#query, ...Object.entries(more)]);
    return writeUrl({ ...this.#read.state, range }, others) || '?';
  }
}
