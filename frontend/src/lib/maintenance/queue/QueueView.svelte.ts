// The page of recommended maintenance: its request, when it is repeated, its links and its export. Draws nothing.
import { goto } from '$app/navigation';
import { page } from '$app/state';
import type { Schemas } from '#lib/api/client.ts';
import { listMaintenance } from '#lib/maintenance/api.ts';
import { readBudget } from '#lib/maintenance/budget.ts';
import { CsvExport } from '#lib/page/csv-export.svelte.ts';
import { ListView } from '#lib/page/ListView.svelte.ts';
import { choiceOf, cursorHref, queueHref, queueQuestion, unreadOf, type QueueChoice } from './question.ts';

/** Tables are evaluated every few minutes: nothing changes within seconds. */
const REFRESH_MS = 60_000;

export class QueueView extends ListView<Schemas['MaintenancePage'], QueueChoice> {
  /** Text, so that typing a budget does not ask again. */
  readonly #question = $derived(JSON.stringify(queueQuestion(this.choice, this.cursor)));
  /** Null: none is set. Of a page further on it is not known what the pages before cost. */
  readonly budget = $derived(this.cursor === null ? readBudget(this.choice.budget) : null);
  readonly csv = new CsvExport();

  constructor() {
    super({ choiceOf, unreadOf, hrefOf: queueHref, cursorHref }, 'table', REFRESH_MS);
  }

  ask(): void {
    const question = JSON.parse(this.#question);
    void this.list.ask((signal) => listMaintenance(question, signal));
  }

  /** While it is typed, the address is replaced: each letter must not be a step back. */
  type(change: Partial<QueueChoice>): void {
    void goto(this.hrefOf(change), { reset: false, replace: true });
  }

  /** This list from its first page: it shows no time of day, so the zone is not part of it. */
  override get link(): string {
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
