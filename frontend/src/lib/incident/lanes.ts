// The lanes of an incident's timeline, by what the alert is about, and its own pending time in the lane of alerts,
// where the server did not find it. Pure.
import type { Schemas } from '#lib/api/client.ts';
import type { LaneId } from '#lib/api/lane-specs.ts';
import { nameOf, type State } from '#lib/alerts/words.ts';
import { beginOf, type Answer, type Bar } from '#lib/api/lanes.ts';

type Incident = Schemas['Incident'];

const ALWAYS: readonly LaneId[] = ['alerts', 'job_duration', 'commits', 'data_files', 'file_size'];
const ABOUT: readonly (readonly [RegExp, LaneId])[] = [
  [/delete/i, 'delete_files'],
  [/skew/i, 'skew'],
  [/stale|fresh|last_commit/i, 'freshness'],
  [/manifest|metadata/i, 'manifests'],
  [/debt|compaction|backlog/i, 'debt'],
  [/schema/i, 'schema'],
  [/record|rows/i, 'records'],
  [/cpu|load/i, 'cpu'],
  [/spill/i, 'spill'],
  [/executor/i, 'executors'],
  [/contention|conflict|attempt/i, 'attempts'],
  [/slot|replication/i, 'slot_lag'],
  [/stream/i, 'stream_lag'],
  [/memory/i, 'job_memory'],
];

export function lanesFor({
  alert,
  expression,
  finding,
}: Pick<Incident, 'alert' | 'expression' | 'finding'>): LaneId[] {
  const code = finding?.group === 'writers' ? finding.code : '';
  const name = `${alert.alert_name ?? ''} ${code}`;
  const named = ABOUT.filter(([about]) => about.test(name));
  const found = named.length ? named : ABOUT.filter(([about]) => about.test(expression ?? ''));
  return [...ALWAYS, ...found.slice(0, 2).map(([, lane]) => lane)];
}

/** The answer with the alert's pending time, and the alert itself where the lane does not have it. */
export function withAlert(answer: Answer, { alert, active_at: active }: Incident, state: State): Answer {
  const named = { label: nameOf(alert), severity: alert.severity };
  const { label } = named;
  const lanes = answer.lanes.map((lane) => {
    if (lane.id !== 'alerts' || lane.kind !== 'bars') return lane;
    const own = (bar: Bar) => bar.label === label && bar.start === alert.starts_at;
    const waited = (bar: Bar) =>
      bar.label === label && bar.state === 'pending' && bar.end === alert.starts_at;
    const bars = [...lane.bars];
    if (state === 'pending') {
      if (!lane.bars.some((bar) => bar.label === label && bar.state === state && bar.end === null))
        bars.push({ start: active ?? alert.starts_at, end: null, ...named, state, detail: null });
    } else if (active !== null && active < alert.starts_at && !lane.bars.some(waited))
      bars.push({ start: active, end: alert.starts_at, ...named, state: 'pending', detail: null });
    if (state !== 'pending' && state !== 'unknown' && !lane.bars.some(own))
      bars.push({ start: alert.starts_at, end: alert.ends_at, ...named, state, detail: alert.summary });
    if (bars.length === lane.bars.length) return lane;
    bars.sort((a, b) => beginOf(a) - beginOf(b));
    return { ...lane, status: lane.status === 'absent' ? ('ok' as const) : lane.status, bars };
  });
  return { ...answer, lanes };
}
