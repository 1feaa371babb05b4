// What a lane says at an instant, and over its whole range: gutter, slider, table and titles all speak through here.
import { NOT_READ } from '#lib/format/count.ts';
import { clock, clockSeconds, zoneAt } from '#lib/format/instant.ts';
import { operationName } from '#lib/ui/operation.ts';
import { heldAt, sampledAt } from './bisect.ts';
import { flagText } from './flags.ts';
import {
  holds,
  isRuns,
  isSeries,
  mainColumn,
  medianOf,
  type Bar,
  type Lane,
  type Value,
} from '#lib/api/lanes.ts';
import { isCritical } from '#lib/api/severity.ts';
import type { Look } from './lane-style.ts';
import { changeCount, commitText } from './marks.ts';
import { weightOf } from './path.ts';
import type { ExplanationOverlay } from './explanation-overlay.ts';

export interface Reading {
  readonly text: string;
  /** Stands in the column of differences when there is no pin. */
  readonly note: string;
  /** Null where it is not a number or not known. */
  readonly value: Value;
  readonly tone: 'plain' | 'unknown' | 'warn' | 'bad';
}

export interface Times {
  /** Instants of samples. */
  readonly t: readonly number[];
  /** Instants at which levels begin to hold. */
  readonly held: Float64Array;
  /** Metadata is known up to here; jobs up to the present. */
  readonly end: number;
}

const unknown = (text: string): Reading => ({ text, note: '', value: null, tone: 'unknown' });
const word = (text: string, note = '', tone: Reading['tone'] = 'plain'): Reading => ({
  text,
  note,
  value: null,
  tone,
});

/** Value of a series lane at an instant; null where it is not known. */
export function valueAt(lane: Lane, times: Times, at: number): Value {
  if (!isSeries(lane)) return null;
  const column = mainColumn(lane);
  return holds(lane) ? heldAt(times.held, column, at, times.end) : sampledAt(times.t, column, at);
}

export function readAt(lane: Lane, look: Look, times: Times, at: number): Reading {
  if (lane.status === 'absent') return unknown('');
  if (lane.status === 'error') return unknown('no data');
  if (lane.source === 'meta' && at > times.end) return unknown(NOT_READ);
  if (lane.kind === 'events') return readEvents(lane.events, at);
  if (lane.kind === 'bars') return readBars(lane, at);
  const value = valueAt(lane, times, at);
  const text = look.print(value);
  if (value === null) return unknown(lane.source === 'meta' ? text : 'no sample');
  const median = medianAt(lane, times, at);
  return { text, note: median === null ? '' : `median ${look.print(median)}`, value, tone: 'plain' };
}

/** Whether a lane says the same thing all the time: no delete file, one version. Then it needs less room. */
export const isQuiet = (lane: Lane): boolean =>
  lane.status === 'ok' &&
  (lane.kind === 'bars'
    ? lane.id === 'schema' && lane.bars.length === 1
    : lane.id === 'delete_files' && isSeries(lane) && mainColumn(lane).every((value) => !value));

/** The median run of a job at an instant; null where it is not known. */
export function medianAt(lane: Lane, times: Times, at: number): Value {
  const column = medianOf(lane);
  return column ? sampledAt(times.t, column, at) : null;
}

function readEvents(events: Extract<Lane, { kind: 'events' }>['events'], at: number): Reading {
  const last = events.findLast((event) => event.t <= at);
  return last ? word(last.operation ?? NOT_READ, clock(last.t)) : word('none');
}

const covers = (bar: Bar, at: number) =>
  bar.start !== null && bar.start <= at && (bar.end === null || at < bar.end);

/** The alerts at an instant by name, for the table; a past episode that is over was firing then. */
export function alertsAt(lane: Lane, at: number): string {
  if (lane.kind !== 'bars') return '';
  const words = lane.bars
    .filter((bar) => covers(bar, at))
    .map(({ label, state }) => `${label} ${state === 'pending' ? 'pending' : 'firing'}`);
  return [...new Set(words)].join('; ');
}

/** A pending alert is not counted as firing: it may never fire. */
function readAlerts(here: readonly Bar[]): Reading {
  const number = (which: (state: Bar['state']) => boolean) => here.filter(({ state }) => which(state)).length;
  const [pending, resolved] = [
    number((state) => state === 'pending'),
    number((state) => state === 'resolved'),
  ];
  const parts = [
    [here.length - pending - resolved, 'firing'],
    [resolved, 'fired'],
    [pending, 'pending'],
  ] as const;
  const [first, ...rest] = parts.filter(([n]) => n > 0).map(([n, state]) => `${n} ${state}`);
  const fires = here.filter(({ state }) => state !== 'pending');
  const tone = fires.some((bar) => isCritical(bar.severity)) ? 'bad' : fires.length ? 'warn' : 'plain';
  return first === undefined ? word('none') : word(first, rest.join(', '), tone);
}

function readBars(lane: Extract<Lane, { kind: 'bars' }>, at: number): Reading {
  const here = lane.bars.filter((bar) => covers(bar, at));
  const last = here.at(-1);
  if (isRuns(lane.id)) {
    const bad = here.some((bar) => bar.state === 'failed');
    return last
      ? word(
          bad ? 'failed' : 'running',
          here.length > 1 ? `${here.length} at once` : '',
          bad ? 'bad' : 'plain',
        )
      : word('idle');
  }
  if (lane.id === 'alerts') return readAlerts(here);
  if (!last) return unknown(NOT_READ);
  const [version = last.label, spec = ''] = last.label.split(' · ');
  return word(version, spec);
}

/** Least, most and last of a lane in words: the title of its drawing. */
export function summaryOf(
  lane: Lane,
  look: Look,
  t: readonly number[],
  explanation: ExplanationOverlay | null = null,
): string {
  if (lane.status === 'error') return lane.problem?.detail ?? lane.problem?.title ?? 'The source failed.';
  if (lane.kind === 'events')
    return [eventsSummary(lane.events), ...(lane.flags ?? []).map((flag) => `${flagText(flag)}.`)].join(' ');
  if (lane.kind === 'bars') return barsSummary(lane.bars, look);
  const said = (explanation?.flags ?? []).map((flag) => `${flag.said}.`);
  const median = medianOf(lane);
  if (median) said.unshift(seriesSummary('Median of the latest runs', median, look, t));
  if (explanation?.expected) said.push(`Expected: ${explanation.expected.map(look.print).join(' to ')}.`);
  return [seriesSummary(look.title, mainColumn(lane), look, t), ...said].join(' ');
}

function seriesSummary(title: string, column: readonly Value[], look: Look, t: readonly number[]): string {
  let [least, most, last] = [-1, -1, -1];
  for (let i = 0; i < column.length; i++) {
    const value = column[i] as Value;
    if (value === null) continue;
    if (least < 0 || value < (column[least] as number)) least = i;
    if (most < 0 || value > (column[most] as number)) most = i;
    last = i;
  }
  if (last < 0) return `${title}: no value in this range.`;
  const at = (i: number) => `${look.print(column[i] ?? null)} at ${clock(t[i] as number)}`;
  return `${title}: lowest ${at(least)}, highest ${at(most)}, last ${at(last)} ${zoneAt(t[last] as number)}.`;
}

function eventsSummary(events: Extract<Lane, { kind: 'events' }>['events']): string {
  const [first] = events;
  if (!first) return 'No commits in this range.';
  const top = events.reduce((most, event) => (weightOf(event) > weightOf(most) ? event : most), first);
  return `${events.length} commits. Largest: ${commitText(top)}.`;
}

function barsSummary(bars: readonly Bar[], look: Look): string {
  const said = bars.slice(-6).map((bar) => {
    const name = `${bar.label}${bar.state === 'ok' ? '' : ` (${bar.state})`}`;
    const until = bar.end === null ? 'ongoing' : `until ${clockSeconds(bar.end)}`;
    return bar.start === null
      ? `${name} ${until}, start not reported`
      : `${name} from ${clockSeconds(bar.start)} ${until}`;
  });
  const more = bars.length > said.length ? `${bars.length} in total, latest: ` : '';
  return bars.length ? `${look.title}: ${more}${said.join('; ')}.` : `${look.title}: none in this range.`;
}

/** The row of a commit in the table view: its id is text, all digits. */
export const commitCell = (commit: Parameters<typeof changeCount>[0]): string =>
  `${operationName(commit.operation)} ${clockSeconds(commit.t)} ${changeCount(commit)} ${commit.snapshot_id}${commit.expired ? ' expired' : ''}`;
