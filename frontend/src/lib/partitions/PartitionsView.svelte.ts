// What the partitions page keeps in its URL: range, two instants, filter, order. Becomes the server's question.
import type { PartitionsQuestion, Schemas } from '#lib/api/client.ts';
import { findUnknownValues } from '#lib/state/unknown-values.ts';
import { resolveRange, type Range, type RangeText } from '#lib/time/range.ts';
import { readUrl, writeUrl } from '#lib/time/url.ts';

export type Sort = NonNullable<PartitionsQuestion['sort']>;
type Direction = 'asc' | 'desc';
type Row = Schemas['PartitionRow'];

const SORTS: readonly Sort[] = [
  'data_files',
  'bytes',
  'average_file_bytes',
  'small_files',
  'delete_ratio',
  'delete_bytes',
  'oldest_delete_at',
  'last_committed_at',
  'data_files_delta',
  'bytes_delta',
  'partition',
];
const CONDITIONS = /^[^=/]+=[^/]*(\/[^=/]+=[^/]*)*$/;
const DAY_MS = 86_400_000;
/** The longest `cmp` that the server takes. */
const LONGEST_S = 731 * 86_400;

export class PartitionsView {
  #query = $state.raw(new URLSearchParams());
  #now = $state(Date.now());
  readonly #read = $derived(readUrl(this.#query, this.#now));
  readonly #url = $derived(this.#read.state);

  readonly range: Range = $derived(
    resolveRange(this.#url.range, this.#now) ?? { from: this.#now - DAY_MS, to: this.#now, relative: true },
  );
  /** Instant B: what the page is about. Unless the address says otherwise, the end of the range. */
  readonly at: number = $derived(this.#url.at ?? Math.min(this.range.to, this.#now));
  /** Instant A: what B is compared with. Unless the address says otherwise, the start of the range. */
  readonly before: number = $derived(
    typeof this.#url.cmp !== 'number'
      ? Math.min(this.range.from, this.at - 1_000)
      : this.at - Math.min(this.#url.cmp, LONGEST_S) * 1_000,
  );
  readonly sort: Sort = $derived(SORTS.find((sort) => sort === this.#query.get('sort')) ?? 'data_files');
  readonly direction: Direction = $derived(this.#query.get('dir') === 'asc' ? 'asc' : 'desc');
  readonly conditions: Readonly<Record<string, string>> = $derived(
    readConditions(this.#query.get('partition')),
  );
  /** Names of parameters that are not known. */
  readonly unread: readonly string[] = $derived([
    ...this.#read.unread,
    ...findUnknownValues(this.#query, {
      sort: SORTS,
      dir: ['asc', 'desc'],
      partition: (text) => CONDITIONS.test(text),
    }),
  ]);
  readonly filtered = $derived(Object.keys(this.conditions).length > 0);

  get text(): RangeText {
    return this.#url.range;
  }

  read(query: URLSearchParams, now = Date.now()): void {
    this.#query = new URLSearchParams(query);
    this.#now = now;
  }

  tick(now = Date.now()): void {
    this.#now = now;
  }

  /** Steps of a minute, so that a repeated request within it is the same. */
  get question(): PartitionsQuestion {
    const minute = (ms: number) => Math.ceil(ms / 60_000) * 60_000;
    const to = minute(this.range.to);
    // as wide as the range is: a minute more would make parts of 31 minutes out of a day
    const from = to - Math.max(60_000, minute(this.range.to - this.range.from));
    const seconds = Math.round((this.at - this.before) / 1_000);
    return {
      ...{ from, to },
      // a moment that the address names is exact, the present is not
      at: this.#url.at ?? minute(this.at),
      cmp: Math.min(Math.max(seconds, 1), LONGEST_S),
      sort: this.sort,
      dir: this.direction,
      ...(this.filtered && { partition: writeConditions(this.conditions) }),
    };
  }

  withRange(range: RangeText): string {
    // instants of another range would lie outside of this one
    return writeUrl({ ...this.#url, range, at: null, cmp: null }, this.#query) || '?';
  }

  withAt(at: number): string {
    return this.#with({ at: String(Math.round(at)), cmp: minutes(at - this.before) });
  }

  withBefore(before: number): string {
    return this.#with({ at: String(Math.round(this.at)), cmp: minutes(this.at - before) });
  }

  withSort(sort: Sort): string {
    const names = sort === 'partition' ? 'asc' : 'desc';
    const dir = this.sort === sort ? (this.direction === 'desc' ? 'asc' : 'desc') : names;
    return this.#with({ sort: sort === 'data_files' ? null : sort, dir: dir === 'desc' ? null : dir });
  }

  withCondition(field: string, value: string): string {
    const next = { ...this.conditions, [field]: value.replaceAll('/', '%2F') };
    if (!value) delete next[field];
    return this.#with({ partition: Object.keys(next).length ? writeConditions(next) : null });
  }

  withoutConditions(): string {
    return this.#with({ partition: null });
  }

  #with(change: Record<string, string | null>): string {
    const next = new URLSearchParams(this.#query);
    for (const [name, value] of Object.entries(change)) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    return next.size ? `?${next}` : '?';
  }
}

/** A period of whole minutes, as `cmp` is written. */
const minutes = (ms: number) => `${Math.max(1, Math.round(ms / 60_000))}m`;

function readConditions(text: string | null): Record<string, string> {
  if (text === null || !CONDITIONS.test(text)) return {};
  return Object.fromEntries(
    text.split('/').map((part) => {
      const at = part.indexOf('=');
      return [part.slice(0, at), part.slice(at + 1)];
    }),
  );
}

const writeConditions = (conditions: Readonly<Record<string, string>>) =>
  Object.entries(conditions)
    .map(([field, value]) => `${field}=${value}`)
    .join('/');

/** What grew most since A, or else what holds most files: the page in a sentence. */
export function headline(page: Schemas['PartitionsPage']): string {
  if (page.after.snapshot_id === null) return 'The table’s contents at this instant are unknown.';
  const grown = page.rows
    .filter((row) => row.data_files_delta)
    .sort((a, b) => Math.abs(b.data_files_delta ?? 0) - Math.abs(a.data_files_delta ?? 0))[0];
  const whole = new Intl.NumberFormat('en-GB');
  const name = (row: Row) => row.partition || 'The table';
  if (grown?.data_files_delta && grown.data_files !== null) {
    const before = grown.data_files - grown.data_files_delta;
    const verb = grown.data_files_delta > 0 ? 'grew' : 'shrank';
    return `${name(grown)} ${verb} from ${whole.format(before)} to ${whole.format(grown.data_files)} files.`;
  }
  return page.before?.snapshot_id ? 'No partition changed between the two instants.' : '';
}

/** Rows with partition, shares and deltas as CSV: UTC ISO, text that a spreadsheet does not run. */
export function csv(rows: readonly Row[]): string {
  const columns = [
    'partition',
    'spec_id',
    'data_files',
    'files_share',
    'data_files_delta',
    'bytes',
    'average_file_bytes',
    'small_files',
    'delete_files',
    'delete_ratio',
    'delete_bytes',
    'delete_bytes_ratio',
    'oldest_delete_at',
    'records',
    'last_committed_at',
  ] as const;
  const cell = (row: Row, column: (typeof columns)[number]) => {
    const value = row[column];
    if (value === null) return '';
    if (column.endsWith('_at')) return new Date(Number(value)).toISOString();
    if (typeof value === 'number') return String(value);
    return `"${(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;
  };
  return [columns.join(','), ...rows.map((row) => columns.map((column) => cell(row, column)).join(','))].join(
    '\r\n',
  );
}
