// What the time cursor says aloud: its instant, and what the lanes are there that a cause is looked for in.
import { clockSeconds, dayMonth, zoneAt } from '#lib/format/instant.ts';
import { isSeries, type Answer } from '#lib/api/lanes.ts';
import type { LaneId } from '#lib/api/lane-specs.ts';
import { lookOf } from './lane-style.ts';
import { medianAt, readAt, type Times } from './readout.ts';

const SPOKEN: readonly string[] = ['job_duration', 'data_files', 'delete_files'] satisfies LaneId[];

export function spokenAt(answer: Answer, times: Times, at: number): string {
  const drawn = answer.lanes.filter((lane) => isSeries(lane) && lane.status !== 'absent');
  const spoken = drawn.filter((lane) => SPOKEN.includes(lane.id));
  const said = (spoken.length ? spoken : drawn.slice(0, 3)).map((lane) => {
    const look = lookOf(lane);
    const median = medianAt(lane, times, at);
    const usual = median === null ? '' : `, median ${look.print(median)}`;
    return `${look.title.toLowerCase()} ${readAt(lane, look, times, at).text}${usual}`;
  });
  return [`${dayMonth(at)} ${clockSeconds(at)} ${zoneAt(at)}`, ...said].join(', ');
}
