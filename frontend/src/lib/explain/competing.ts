// What else moved around a change, in words: other jobs, how much the job had to do, its CPU, spill and executors. Pure.
import type { Schemas } from '#lib/api/client.ts';
import type { LaneId } from '#lib/api/lane-specs.ts';
import { bytes } from '#lib/format/bytes.ts';
import { count, ratio } from '#lib/format/count.ts';
import { clockSeconds } from '#lib/format/instant.ts';
import type { ChangeBounds } from './case.ts';

type CompetingChange = Schemas['CompetingChange'];
type Signal = Extract<CompetingChange['kind'], LaneId>;

export interface Line {
  readonly words: string;
  /** Its lane on the timeline, where it moved. */
  readonly lane?: Signal;
}

const NAMES: Record<Signal, string> = { cpu: 'CPU', spill: 'spill to disk', executors: 'executors' };
const SIGNALS = Object.keys(NAMES) as Signal[];
export const laneName = (lane: Signal): string => NAMES[lane];

const level = ({ kind, unit }: CompetingChange, value: number) =>
  kind === 'spill' ? bytes(value) : kind === 'executors' ? count(value) : `${value.toFixed(2)} ${unit ?? ''}`;
const isSignal = ({ kind }: CompetingChange) => SIGNALS.includes(kind as Signal);
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `CPU went from 0.31 cores to 0.94 cores (3.0×) at 03:01:00` of those that moved. */
export function movedSignals({ competing }: ChangeBounds): readonly Required<Line>[] {
  return competing.filter(isSignal).flatMap((each) => {
    const { before, after, at } = each;
    if (before === null || after === null || at === null) return [];
    const lane = each.kind as Signal;
    const by = each.ratio === null ? '' : ` (${ratio(each.ratio)})`;
    const words = `${NAMES[lane]} went from ${level(each, before)} to ${level(each, after)}${by} at ${clockSeconds(at)}`;
    return [{ words, lane }];
  });
}

/** All signals: what changed, what did not, and what is unknown, a sentence each. */
export function competingLines(around: ChangeBounds): readonly Line[] {
  const { competing } = around;
  const moved = movedSignals(around).map(({ words, lane }) => ({ words: `${capital(words)}.`, lane }));
  const flat = competing.flatMap((each) =>
    isSignal(each) && each.at === null && each.before !== null
      ? [{ words: `${capital(NAMES[each.kind as Signal])} flat at ${level(each, each.before)}.` }]
      : [],
  );
  return [...competing.flatMap(beside), ...moved, ...flat, ...unknown(competing)];
}

/** Of the job's load, and of other jobs. */
function beside({ kind, series, moved, ratio: by }: CompetingChange): Line[] {
  if (by === null) return [];
  const times = `${by.toFixed(2)}×`;
  if (kind === 'load') return [{ words: `Job load: ${times}.` }];
  if (kind !== 'jobs') return [];
  const jobs = series === 1 ? '1 other job compared' : `${series} other jobs compared`;
  const how = moved === 0 ? 'none changed' : moved === 1 ? '1 changed' : `${moved} changed`;
  return [{ words: `${jobs}: ${how} the same way by 10 % or more; median ${times}.` }];
}

function unknown(competing: readonly CompetingChange[]): Line[] {
  const known = (kind: CompetingChange['kind']) =>
    competing.some((each) => each.kind === kind && each.series > 0);
  const failed = competing.filter(({ problem }) => problem);
  const lines = failed.map(({ kind, problem }) => ({
    words: `${capital(NAMES[kind as Signal])} unknown: ${problem}.`,
  }));
  const said = new Set<string>(failed.map(({ kind }) => kind));
  const names = [...SIGNALS.filter((kind) => !known(kind) && !said.has(kind)).map((kind) => NAMES[kind])];
  if (!known('load')) names.unshift('job load');
  if (!known('jobs')) names.unshift('other jobs');
  return names.length ? [...lines, { words: `Unknown: ${names.join(', ')}.` }] : lines;
}
