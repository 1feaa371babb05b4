// The page of a list that its address narrows: its request, when it is repeated, and its links. Draws nothing.
import { goto } from '$app/navigation';
import { page } from '$app/state';
import { follow } from '#lib/live/follow.ts';
import { live } from '#lib/live/live.svelte.ts';
import { throttle } from '#lib/live/throttle.ts';
import { LostCursor } from '#lib/page/lost-cursor.svelte.ts';
import { zone } from '#lib/preferences/zone.svelte.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';

/** How an address says what a list is narrowed to. */
export interface ListAddress<Choice> {
  readonly choiceOf: (params: URLSearchParams) => Choice;
  /** Names of parameters whose value cannot be read. */
  readonly unreadOf: (params: URLSearchParams) => string[];
  /** The address with a change, from its first page. */
  readonly hrefOf: (params: URLSearchParams, change: Partial<Choice>) => string;
  /** The page that begins at a cursor; null: the first one. */
  readonly cursorHref: (params: URLSearchParams, cursor: string | null) => string;
}

export abstract class ListView<Answer, Choice> {
  readonly list = new Resource<Answer>();
  readonly #address: ListAddress<Choice>;
  readonly #lost = new LostCursor(
    this.list,
    () => this.cursor,
    () => this.hrefAt(null),
  );
  /** Epoch ms from which ages are counted: of the newest request. */
  now = $state(Date.now());
  readonly #params = $derived(new URLSearchParams(page.url.search));
  readonly choice: Choice = $derived.by(() => this.#address.choiceOf(this.#params));
  readonly cursor = $derived(this.#params.get('cursor'));
  readonly unread = $derived.by(() => [...this.#address.unreadOf(this.#params), ...this.#lost.unread]);

  /** `event`: of the live stream, after which the list may differ. Made while its component is, with whose end it ends. */
  constructor(address: ListAddress<Choice>, event: 'finding' | 'table', refreshMs: number) {
    this.#address = address;
    $effect(() => {
      this.ask();
      return () => this.list.stop();
    });
    const refresh = throttle(() => {
      if (this.list.pending) return refresh();
      this.now = Date.now();
      this.ask();
    }, refreshMs);
    $effect(() => {
      if (this.cursor) return; // a page further on must not slide away
      return follow(refresh, [live.on(event, refresh)]);
    });
  }

  abstract ask(): void;

  /** This list with another choice, from its first page. */
  hrefOf(change: Partial<Choice>): string {
    return this.#address.hrefOf(this.#params, change);
  }

  /** This list from a cursor on; null: from the first row. */
  hrefAt(cursor: string | null): string {
    return this.#address.cursorHref(this.#params, cursor);
  }

  choose(change: Partial<Choice>): void {
    void goto(this.hrefOf(change), { reset: false });
  }

  /** This list from its first page, in the zone that is shown. */
  get link(): string {
    const link = new URL(this.hrefOf({}), page.url.origin);
    link.searchParams.set('tz', zone.name);
    return link.href;
  }
}
