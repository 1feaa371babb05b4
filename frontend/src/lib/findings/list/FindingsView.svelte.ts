// The page of findings: its request, when it is repeated, and its export. Draws nothing.
import { listFindings, type Schemas } from '#lib/api/client.ts';
import { CsvExport } from '#lib/page/csv-export.svelte.ts';
import { ListView } from '#lib/page/ListView.svelte.ts';
import {
  choiceOf,
  cursorHref,
  findingsHref,
  findingsQuestion,
  unreadOf,
  type FindingsChoice,
} from './question.ts';

const REFRESH_MS = 2_000;

export class FindingsView extends ListView<Schemas['FindingsPage'], FindingsChoice> {
  readonly csv = new CsvExport();

  constructor() {
    super({ choiceOf, unreadOf, hrefOf: findingsHref, cursorHref }, 'finding', REFRESH_MS);
  }

  ask(): void {
    const question = findingsQuestion(this.choice, this.cursor);
    void this.list.ask((signal) => listFindings(question, signal));
  }

  /** All findings that match, not only those of the page. */
  async export(): Promise<void> {
    const now = Date.now();
    const question = findingsQuestion(this.choice, null);
    await this.csv.run({
      what: 'findings',
      at: now,
      ask: (page) => listFindings({ ...question, ...page }),
      writer: async () => {
        const { findingsCsv } = await import('./export.ts');
        return (rows) => findingsCsv(rows, now);
      },
    });
  }
}
