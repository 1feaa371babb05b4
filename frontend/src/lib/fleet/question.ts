// The fleet page's address: search parameters to a question and back. Defaults stay out of the address.
import type { FleetQuestion, FleetSort } from '#lib/api/client.ts';
import { findUnknownValues } from '#lib/state/unknown-values.ts';
import { readPeriod, writePeriod } from '#lib/time/period.ts';
import { COLUMNS, readColumns, writeColumns } from './columns.ts';
import {
  chipsOf,
  FILTER_VALUES,
  filterQuestion,
  NO_FILTERS,
  readFilters,
  writeFilters,
  type FleetFilters,
} from './filters.ts';
import { MEASURES, type Measure } from './heat.ts';

export const PAGE_ROWS = 50;

export interface FleetView extends FleetFilters {
  q: string;
  /** `catalog.namespace`, or empty for all. */
  ns: string;
  sort: FleetSort;
  dir: 'asc' | 'desc';
  cursor: string | null;
  /** Rows before this page, for display; the server needs only the cursor. */
  skip: number;
  /** Seconds before the end against which differences are taken; null: the start of the range. */
  cmp: number | null;
  /** Ids of the columns that are shown. */
  cols: readonly string[];
  /** What the fleet over time counts. */
  heat: Measure;
}

const SORTS = new Set<string>([
  'attention',
  'name',
  'data_files',
  'delete_files',
  'records',
  'bytes',
  'small_files',
  'file_size_p50',
  'manifests',
  'live_snapshots',
  'small_share',
  'delete_share',
  'skew',
  'commits',
  'last_commit',
  'job_duration',
  'job_p95',
  'delta_data_files',
  'delta_delete_files',
  'delta_records',
  'delta_bytes',
  'delta_job_duration',
  'delta_job_p95',
  'delta_share_data_files',
  'delta_share_delete_files',
  'delta_share_records',
  'delta_share_bytes',
  'growth',
  'planning_p95',
  'missed_share',
] satisfies FleetSort[]);
const isSort = (text: string | null): text is FleetSort => text !== null && SORTS.has(text);

/** Names rise, numbers fall: the interesting end first. */
export const firstDirection = (sort: FleetSort): 'asc' | 'desc' => (sort === 'name' ? 'asc' : 'desc');

/** An unknown or malformed value counts as its default. */
export function readFleetView(params: URLSearchParams): FleetView {
  const sort = params.get('sort');
  const known = isSort(sort) ? sort : 'attention';
  const dir = params.get('dir');
  const skip = Number(params.get('skip') ?? 0);
  return {
    ...readFilters(params),
    q: params.get('q') ?? '',
    ns: params.get('ns') ?? '',
    sort: known,
    dir: dir === 'asc' || dir === 'desc' ? dir : firstDirection(known),
    cursor: params.get('cursor'),
    skip: Number.isSafeInteger(skip) && skip > 0 ? skip : 0,
    cmp: readPeriod(params.get('cmp') ?? ''),
    cols: readColumns(params.get('cols')),
    heat: MEASURES.find((each) => each === params.get('heat')) ?? MEASURES[0],
  };
}

/** Names of parameters that say what the page does not know; range and `cmp` are read elsewhere. */
export const unreadOf = (params: URLSearchParams): string[] =>
  findUnknownValues(params, {
    sort: isSort,
    dir: ['asc', 'desc'],
    skip: (text) => /^\d+$/.test(text),
    cols: (text) => text.split(',').every((id) => COLUMNS.some((column) => column.id === id)),
    heat: MEASURES,
    ...FILTER_VALUES,
  });

/** What is looked at differently, not another list. */
const LOOKS = new Set<string>(['cols', 'heat'] satisfies (keyof FleetView)[]);

/** The address with `change` applied; parameters of others (`from`, `to`, unknown ones) stay. A change of what is
 * listed starts at its first page. */
export function fleetHref(params: URLSearchParams, change: Partial<FleetView>): string {
  const same = Object.keys(change).length > 0 && Object.keys(change).every((name) => LOOKS.has(name));
  const view: FleetView = { ...readFleetView(params), ...(!same && { cursor: null, skip: 0 }), ...change };
  const next = new URLSearchParams(params);
  const put = (name: string, value: string, usual: string) =>
    value === usual ? next.delete(name) : next.set(name, value);
  put('q', view.q, '');
  put('ns', view.ns, '');
  for (const [name, value] of Object.entries(writeFilters(view))) put(name, value, '');
  put('sort', view.sort, 'attention');
  put('dir', view.dir, firstDirection(view.sort));
  put('cursor', view.cursor ?? '', '');
  put('skip', String(view.skip), '0');
  put('cmp', view.cmp === null ? '' : writePeriod(view.cmp), '');
  put('cols', writeColumns(view.cols), '');
  put('heat', view.heat, MEASURES[0]);
  const text = next.toString();
  return text ? `/?${text}` : '/';
}

/** Whether a row says how much it grew. */
export const showsGrowth = ({ grew, sort, cols }: FleetView): boolean =>
  grew !== null || sort === 'growth' || cols.includes('growth');

/** Whether anything narrows the list. */
export const isFiltered = (view: FleetView): boolean =>
  view.q !== '' || view.ns !== '' || chipsOf(view).length > 0;

/** What takes all filters away. */
export const UNFILTERED: Partial<FleetView> = { q: '', ns: '', ...NO_FILTERS };

/** A page further on is of the range that its first page had, which the cursor carries: "the last day" has moved on. */
export function fleetQuestion(view: FleetView, span: { from: number; to: number }): FleetQuestion {
  const { q, ns, sort, dir, cursor, cmp } = view;
  const { from, to } = span;
  const filters = filterQuestion(view, showsGrowth(view));
  const place = cursor ? { cursor } : { from, to };
  return { q, ns, sort, dir, limit: PAGE_ROWS, ...filters, ...place, ...(cmp && { cmp }) };
}

/** The question behind "Needs attention now": the worst tables of the whole fleet, whatever the list below shows. */
export const attentionQuestion = (span: { from: number; to: number }): FleetQuestion => ({
  sort: 'attention',
  dir: 'desc',
  limit: PAGE_ROWS,
  from: span.from,
  to: span.to,
});

/** Whether the list's own answer already holds the worst tables. */
export const listsWorst = (view: FleetView): boolean =>
  !isFiltered(view) &&
  !showsGrowth(view) &&
  view.sort === 'attention' &&
  view.dir === 'desc' &&
  view.cursor === null;
