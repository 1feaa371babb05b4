// The timeline as rows of text, one a step: the same numbers as the drawing, ids as text.
import { sayComparison } from '#lib/timeline/shapes/comparison.ts';
import { clockSeconds, dayMonth, zoneAt } from '#lib/format/instant.ts';
import { zone } from '#lib/preferences/zone.svelte.ts';
import { earlierAt, earlierOf } from '#lib/timeline/shapes/compare.ts';
import type { Frame } from '#lib/timeline/shapes/frame.ts';
import { isSeries, medianOf, type Answer, type CommitEvent, type Value } from '#lib/api/lanes.ts';
import { lookOf, type Look } from '#lib/timeline/shapes/lane-style.ts';
import { alertsAt, commitCell, medianAt, readAt } from '#lib/timeline/shapes/readout.ts';

export const ROWS_A_PAGE = 25;

export interface Row {
  readonly at: number;
  readonly time: string;
  readonly cells: readonly string[];
  /** Commits since the row before, in words with their ids. */
  readonly commits: readonly string[];
}

interface Column {
  readonly id: string;
  readonly title: string;
  /** The cells of an instant. */
  readonly text: (frame: Frame, at: number) => string;
}

/** One of each series lane, beside it one of the compared period; the alerts last. */
export function columnsOf(answer: Answer): Column[] {
  const lanes = answer.lanes.filter((lane) => isSeries(lane) && lane.status !== 'absent');
  const series = lanes.flatMap((lane) => {
    const look = lookOf(lane);
    const now = {
      id: lane.id,
      title: look.title,
      text: (frame: Frame, at: number) => readAt(lane, look, frame, at).text,
    };
    const usual = {
      id: `${lane.id}-median`,
      title: `${look.title}, median`,
      text: (frame: Frame, at: number) => known(look, medianAt(lane, frame, at)),
    };
    const here = medianOf(lane) ? [now, usual] : [now];
    const earlier = earlierOf(answer, lane);
    if (!earlier || !answer.cmp) return here;
    const title = `${look.title} ${answer.cmp.table ? 'of ' : ''}${sayComparison(answer.cmp)}`;
    const text = (frame: Frame, at: number) => look.print(earlierAt(earlier, frame.t, at));
    return [...here, { id: `${lane.id}-earlier`, title, text }];
  });
  const alerts = answer.lanes.filter((lane) => lane.id === 'alerts' && lane.status !== 'absent');
  return [
    ...series,
    ...alerts.map((lane) => ({
      id: lane.id,
      title: lookOf(lane).title,
      text: (_: Frame, at: number) => alertsAt(lane, at),
    })),
  ];
}

const known = (look: Look, value: Value) => (value === null ? 'unknown' : look.print(value));

/** Rows of one page, first page 0. A row's numbers are those at its instant; its commits lie in the step that ends there. */
export function rowsOf(answer: Answer, frame: Frame, page: number): Row[] {
  const columns = columnsOf(answer);
  const events = answer.lanes.flatMap((lane) => (lane.kind === 'events' ? lane.events : []));
  const first = page * ROWS_A_PAGE;
  const step = answer.range.step * 1000;
  return answer.t.slice(first, first + ROWS_A_PAGE).map((at) => ({
    at,
    time: `${dayMonth(at)} ${clockSeconds(at)}${zone.offset(at) === zone.offset(answer.range.from) ? '' : ` ${zoneAt(at)}`}`,
    cells: columns.map(({ text }) => text(frame, at)),
    commits: within(events, at - step, at).map(commitCell),
  }));
}

const within = (events: readonly CommitEvent[], after: number, to: number) =>
  events.filter((event) => event.t > after && event.t <= to);
