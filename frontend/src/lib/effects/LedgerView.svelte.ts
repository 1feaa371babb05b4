// The page of the ledger: its request, when it is repeated, its links and its export. Draws nothing.
import { goto } from '$app/navigation';
import { page } from '$app/state';
import { listEffects, type Schemas } from '#lib/api/client.ts';
import { follow } from '#lib/live/follow.ts';
import { live } from '#lib/live/live.svelte.ts';
import { throttle } from '#lib/live/throttle.ts';
import { CsvExport } from '#lib/page/csv-export.svelte.ts';
import { LostCursor } from '#lib/page/lost-cursor.svelte.ts';
import { zone } from '#lib/preferences/zone.svelte.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { absolute, type RangeText } from '#lib/time/range.ts';
import {
  choiceOf,
  cursorHref,
  ledgerHref,
  ledgerQuestion,
  rangeHref,
  readRange,
  unreadOf,
  type LedgerChoice,
} from './question.ts';

/** An effect is measured after 8, 16 and 48 runs: nothing changes within seconds. */
const REFRESH_MS = 60_000;

export class LedgerView {
  readonly list = new Resource<Schemas['LedgerPage']>();
  readonly #lost = new LostCursor(
    this.list,
    () => this.cursor,
    () => this.hrefAt(null),
  );
  #now = $state(Date.now());
  readonly #params = $derived(new URLSearchParams(page.url.search));
  readonly #read = $derived(readRange(this.#params, this.#now));
  readonly range = $derived(this.#read.range);
  readonly rangeText = $derived(this.#read.text);
  readonly choice = $derived(choiceOf(this.#params));
  readonly cursor = $derived(this.#params.get('cursor'));
  /** Names of parameters that are not known. */
  readonly unread = $derived([...this.#read.unread, ...unreadOf(this.#params), ...this.#lost.unread]);
  readonly csv = new CsvExport();

  /** Made while its component is, with whose end it ends. */
  constructor() {
    $effect(() => {
      this.ask();
      return () => this.list.stop();
    });
    const refresh = throttle(() => {
      if (this.list.pending) refresh();
      else this.#now = Date.now();
    }, REFRESH_MS);
    $effect(() => {
      if (!this.range.relative || this.cursor) return;
      return follow(refresh, [live.on('table', refresh)]);
    });
  }

  ask(): void {
    const question = ledgerQuestion(this.choice, this.range, this.cursor);
    void this.list.ask((signal) => listEffects(question, signal));
  }

  /** This list with another choice, from its first page. */
  hrefOf(change: Partial<LedgerChoice>): string {
    return ledgerHref(this.#params, change);
  }

  /** This list from a cursor on; null: from the newest. */
  hrefAt(cursor: string | null): string {
    return cursorHref(this.#params, cursor);
  }

  choose(change: Partial<LedgerChoice>): void {
    void goto(this.hrefOf(change), { reset: false });
  }

  changeRange(text: RangeText): void {
    this.#now = Date.now();
    void goto(rangeHref(this.#params, text), { reset: false });
  }

  /** This page with its range fixed: a link that is opened tomorrow must not show tomorrow. */
  get link(): string {
    const fixed = new URL(rangeHref(this.#params, absolute(this.range.from, this.range.to)), page.url.origin);
    fixed.searchParams.set('tz', zone.name);
    return fixed.href;
  }

  /** All rows that match, not only those of the page. */
  async export(): Promise<void> {
    const { from, to } = this.range;
    const question = ledgerQuestion(this.choice, { from, to }, null);
    await this.csv.run({
      what: 'effects',
      at: to,
      ask: (page) => listEffects({ ...question, ...page }),
      writer: async () => (await import('./export.ts')).ledgerCsv,
    });
  }
}
