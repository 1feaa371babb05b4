// The page of recommended maintenance: its request, when it is repeated, its links and its export. Draws nothing.
import { goto } from '$app/navigation';
import { page } from '$app/state';
import type { Schemas } from '#lib/api/client.ts';
import { follow } from '#lib/live/follow.ts';
import { live } from '#lib/live/live.svelte.ts';
import { throttle } from '#lib/live/throttle.ts';
import { listMaintenance } from '#lib/maintenance/api.ts';
import { readBudget } from '#lib/maintenance/budget.ts';
import { CsvExport } from '#lib/page/csv-export.svelte.ts';
import { LostCursor } from '#lib/page/lost-cursor.svelte.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { choiceOf, cursorHref, queueHref, queueQuestion, unreadOf, type QueueChoice } from './question.ts';

/** Tables are evaluated every few minutes: nothing changes within seconds. */
const REFRESH_MS = 60_000;

export class QueueView {
  readonly list = new Resource<Schemas['MaintenancePage']>();
  readonly #lost = new LostCursor(
    this.list,
    () => this.cursor,
    () => this.hrefAt(null),
  );
  readonly #params = $derived(new URLSearchParams(page.url.search));
  readonly choice = $derived(choiceOf(this.#params));
  readonly cursor = $derived(this.#params.get('cursor'));
  /** Text, so that typing a budget does not ask again. */
  readonly #question = $derived(JSON.stringify(queueQuestion(this.choice, this.cursor)));
  /** Null: none is set. Of a page further on it is not known what the pages before cost. */
  readonly budget = $derived(this.cursor === null ? readBudget(this.choice.budget) : null);
  /** Names of parameters whose value cannot be read. */
  readonly unread = $derived([...unreadOf(this.#params), ...this.#lost.unread]);
  readonly csv = new CsvExport();

  /** Made while its component is, with whose end it ends. */
  constructor() {
    $effect(() => {
      this.ask();
      return () => this.list.stop();
    });
    const refresh = throttle(() => {
      if (this.list.pending) refresh();
      else this.ask();
    }, REFRESH_MS);
    $effect(() => {
      if (this.cursor) return; // a page further on must not slide away
      return follow(refresh, [live.on('table', refresh)]);
    });
  }

  ask(): void {
    const question = JSON.parse(this.#question);
    void this.list.ask((signal) => listMaintenance(question, signal));
  }

  /** This list with another choice, from its first page. */
  hrefOf(change: Partial<QueueChoice>): string {
    return queueHref(this.#params, change);
  }

  /** This list from a cursor on; null: from the best plan. */
  hrefAt(cursor: string | null): string {
    return cursorHref(this.#params, cursor);
  }

  choose(change: Partial<QueueChoice>): void {
    void goto(this.hrefOf(change), { reset: false });
  }

  /** While it is typed, the address is replaced: each letter must not be a step back. */
  type(change: Partial<QueueChoice>): void {
    void goto(this.hrefOf(change), { reset: false, replace: true });
  }

  /** This list from its first page. */
  get link(): string {
    return new URL(this.hrefOf({}), page.url.origin).href;
  }

  /** All plans that match, not only those of the page. */
  async export(): Promise<void> {
    const question = queueQuestion(this.choice, null);
    const currency = this.list.data?.currency ?? '';
    await this.csv.run({
      what: 'plans',
      at: Date.now(),
      ask: (page) => listMaintenance({ ...question, ...page }),
      writer: async () => {
        const { plansCsv } = await import('./export.ts');
        return (rows) => plansCsv(rows, currency);
      },
    });
  }
}
