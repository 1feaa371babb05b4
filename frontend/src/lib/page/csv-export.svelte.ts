// The export of a list: all rows that match, not only those of the page, as one CSV file.
import { problemFrom } from '#lib/api/problem.ts';
import { count } from '#lib/format/count.ts';
import { announce } from '#lib/ui/announce.svelte.ts';

const PAGE_ROWS = 500;
const MOST_ROWS = 20_000;

export interface ExportedList<Row> {
  /** What the rows are, in the plural: names the file and the announcement. */
  what: string;
  /** Epoch ms that the file is named after. */
  at: number;
  ask: (page: { limit: number; cursor?: string }) => Promise<{ rows: Row[]; next_cursor: string | null }>;
  /** Loads what writes the rows, so that a page without an export does not load it. */
  writer: () => Promise<(rows: Row[]) => string>;
}

export class CsvExport {
  pending = $state(false);

  /** Reads all pages and downloads the file; announces the number of rows, or why there is no file. */
  async run<Row>(list: ExportedList<Row>): Promise<void> {
    this.pending = true;
    try {
      announce(await exported(list));
    } catch (thrown) {
      announce(`The export failed: ${problemFrom(thrown).detail}`);
    } finally {
      this.pending = false;
    }
  }
}

async function exported<Row>({ what, at, ask, writer }: ExportedList<Row>): Promise<string> {
  const [write, { downloadText }] = await Promise.all([writer(), import('#lib/ui/download.ts')]);
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const next = await ask({ limit: PAGE_ROWS, ...(cursor && { cursor }) });
    rows.push(...next.rows);
    cursor = next.next_cursor;
  } while (cursor && rows.length < MOST_ROWS);
  downloadText(`${what}-${new Date(at).toISOString().slice(0, 16)}.csv`, 'text/csv', write(rows));
  return `${count(rows.length)} ${what} exported${cursor ? '; more match' : ''}`;
}
