// The page of forecasts: its request, when it is repeated, and its links. Draws nothing.
import { goto } from '$app/navigation';
import { page } from '$app/state';
import type { Schemas } from '#lib/api/client.ts';
import { follow } from '#lib/live/follow.ts';
import { live } from '#lib/live/live.svelte.ts';
import { throttle } from '#lib/live/throttle.ts';
import { LostCursor } from '#lib/page/lost-cursor.svelte.ts';
import { zone } from '#lib/preferences/zone.svelte.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { listForecasts } from './api.ts';
import {
  choiceOf,
  cursorHref,
  forecastsHref,
  forecastsQuestion,
  unreadOf,
  type ForecastsChoice,
} from './question.ts';

/** Forecasts are made daily: nothing changes within seconds. */
const REFRESH_MS = 60_000;

export class ForecastsView {
  readonly list = new Resource<Schemas['ForecastsPage']>();
  readonly #lost = new LostCursor(
    this.list,
    () => this.cursor,
    () => this.hrefAt(null),
  );
  /** From which days are counted: of the newest request. */
  now = $state(Date.now());
  readonly #params = $derived(new URLSearchParams(page.url.search));
  readonly choice = $derived(choiceOf(this.#params));
  readonly cursor = $derived(this.#params.get('cursor'));
  /** Names of parameters that are not known. */
  readonly unread = $derived([...unreadOf(this.#params), ...this.#lost.unread]);

  /** Made while its component is, with whose end it ends. */
  constructor() {
    $effect(() => {
      this.ask();
      return () => this.list.stop();
    });
    const refresh = throttle(() => {
      if (this.list.pending) return refresh();
      this.now = Date.now();
      this.ask();
    }, REFRESH_MS);
    $effect(() => {
      if (this.cursor) return; // a page further on must not slide away
      return follow(refresh, [live.on('finding', refresh)]);
    });
  }

  ask(): void {
    const question = forecastsQuestion(this.choice, this.cursor);
    void this.list.ask((signal) => listForecasts(question, signal));
  }

  /** This list with another choice, from its first page. */
  hrefOf(change: Partial<ForecastsChoice>): string {
    return forecastsHref(this.#params, change);
  }

  /** This list from a cursor on; null: from the first row. */
  hrefAt(cursor: string | null): string {
    return cursorHref(this.#params, cursor);
  }

  choose(change: Partial<ForecastsChoice>): void {
    void goto(this.hrefOf(change), { reset: false });
  }

  /** This list from its first page, in the zone that is shown. */
  get link(): string {
    const link = new URL(this.hrefOf({}), page.url.origin);
    link.searchParams.set('tz', zone.name);
    return link.href;
  }
}
