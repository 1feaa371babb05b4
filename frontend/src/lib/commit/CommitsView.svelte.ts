// A page of commits, of one table or of all: its requests, when they are repeated, and its links. Draws nothing.
import { goto } from '$app/navigation';
import { page } from '$app/state';
import type { CommitsQuestion, Schemas } from '#lib/api/client.ts';
import { follow } from '#lib/live/follow.ts';
import { live } from '#lib/live/live.svelte.ts';
import { throttle } from '#lib/live/throttle.ts';
import { LostCursor } from '#lib/page/lost-cursor.svelte.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { resolveRange, type RangeText } from '#lib/time/range.ts';
import { readUrl, writeUrl } from '#lib/time/url.ts';
import { choiceOf, commitsQuestion, paramsAt, paramsOf, unreadOf, type CommitsChoice } from './question.ts';

const DAY_MS = 86_400_000;

type ChangedTable = Pick<Schemas['AlertTable'], 'catalog' | 'table_namespace' | 'table'>;

export class CommitsView {
  readonly list = new Resource<Schemas['CommitsPage']>();
  readonly #lost = new LostCursor(
    this.list,
    () => this.cursor,
    () => this.hrefAt(null),
  );
  #now = $state(Date.now());
  readonly #params = $derived(new URLSearchParams(page.url.search));
  readonly #read = $derived(readUrl(this.#params, this.#now));
  readonly #url = $derived(this.#read.state);
  readonly range = $derived(
    resolveRange(this.#url.range, this.#now) ?? { from: this.#now - DAY_MS, to: this.#now, relative: true },
  );
  readonly rangeText = $derived(this.#url.range);
  readonly choice = $derived(choiceOf(this.#params));
  /** Names of parameters that are not known. */
  readonly unread = $derived([...this.#read.unread, ...unreadOf(this.#params), ...this.#lost.unread]);
  readonly cursor = $derived(this.#params.get('cursor'));
  readonly #question: (question: CommitsQuestion, signal: AbortSignal) => Promise<Schemas['CommitsPage']>;

  /** `concerns`: whether a commit of this table belongs on the page. Made while its component is, with whose end it ends. */
  constructor(
    question: (question: CommitsQuestion, signal: AbortSignal) => Promise<Schemas['CommitsPage']>,
    concerns: (event: ChangedTable) => boolean,
    refreshMs: number,
  ) {
    this.#question = question;
    $effect(() => {
      this.ask();
      return () => this.list.stop();
    });
    // the first page of a range that moves with the clock shows what comes; a page further on must not slide away
    const refresh = throttle(() => {
      if (this.list.pending) refresh();
      else this.#now = Date.now();
    }, refreshMs);
    $effect(() => {
      if (!this.range.relative || this.cursor) return;
      return follow(refresh, [live.on('table', (event) => void (concerns(event) && refresh()))]);
    });
  }

  ask(): void {
    const question = commitsQuestion(this.choice, this.range, this.cursor);
    void this.list.ask((signal) => this.#question(question, signal));
  }

  /** This list from a cursor on; null: from the newest. */
  hrefAt(cursor: string | null): string {
    return this.#hrefWith(paramsAt(this.#params, cursor));
  }

  choose(choice: CommitsChoice): void {
    void goto(this.hrefOf(choice), { reset: false });
  }

  /** This list with another choice. */
  hrefOf(choice: CommitsChoice): string {
    return this.#hrefWith(paramsOf(this.#params, choice));
  }

  changeRange(text: RangeText): void {
    this.#now = Date.now();
    const next = new URLSearchParams(writeUrl({ ...this.#url, range: text }, this.#params));
    next.delete('cursor');
    void goto(`?${next}`, { reset: false });
  }

  #hrefWith(next: URLSearchParams): string {
    return next.size ? `?${next}` : page.url.pathname;
  }
}
