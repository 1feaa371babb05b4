// The timeline as rows of text, one a step: the same numbers as the drawing, ids as text.
import { clockSeconds, dayMonth } from '#lib/format/instant.ts';
import type { Frame } from './frame.ts';
import { isSeries, type Answer, type CommitEvent, type Lane } from './lane.ts';
import { lookOf } from './look.ts';
import { commitCell, readAt } from './reading.ts';

export const ROWS_A_PAGE = 25;

export interface Row {
  readonly at: number;
  readonly time: string;
  readonly cells: readonly string[];
  /** Commits since the row before, in words with their ids. */
  readonly commits: readonly string[];
}

/** Lanes that have a column. */
export const columnsOf = (answer: Answer): Lane[] =>
  answer.lanes.filter((lane) => isSeries(lane) && lane.status !== 'absent');

/** Rows of one page, first page 0. A row's numbers are those at its instant; its commits lie in the step that ends there. */
export function rowsOf(answer: Answer, frame: Frame, page: number): Row[] {
  const columns = columnsOf(answer).map((lane) => ({ lane, look: lookOf(lane) }));
  const events = answer.lanes.flatMap((lane) => (lane.kind === 'events' ? lane.events : []));
  const first = page * ROWS_A_PAGE;
  const step = answer.range.step * 1000;
  return answer.t.slice(first, first + ROWS_A_PAGE).map((at) => ({
    at,
    time: `${dayMonth(at)} ${clockSeconds(at)}`,
    cells: columns.map(({ lane, look }) => readAt(lane, look, frame, at).text),
    commits: within(events, at - step, at).map(commitCell),
  }));
}

const within = (events: readonly CommitEvent[], after: number, to: number) =>
  events.filter((event) => event.t > after && event.t <= to);

export const pagesOf = (answer: Answer): number => Math.max(1, Math.ceil(answer.t.length / ROWS_A_PAGE));
