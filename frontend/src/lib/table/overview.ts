// The data of the overview above a timeline: all known commits and alerts, by the hour for two months, by the day
// before, as far as hours are kept. Loaded after the page's first answer.
import { getTimeline } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import { MAX_WIDTH_MS } from '#lib/time/step.ts';
import { commitsOf, type Answer, type Lane } from '#lib/api/lanes.ts';
import type { Overview } from '#lib/timeline/overview/minimap.ts';

const DAY = 86_400_000;
const RECENT_DAYS = 60;

/** The recent answer with the commits and alerts of before in front. */
export function joinOverview(recent: Answer, before: Answer): Overview {
  const { from } = recent.range;
  const older = commitsOf(before).filter(({ t }) => t < from);
  const ended = before.lanes.flatMap((lane) => (lane.kind === 'bars' ? lane.bars : []));
  const whole = (lane: Lane): Lane => {
    if (lane.kind === 'events') return { ...lane, events: [...older, ...lane.events] };
    if (lane.kind !== 'bars') return lane;
    // one that reaches over the seam is in both
    return {
      ...lane,
      bars: [...ended.filter(({ end }) => end !== null && end <= from), ...lane.bars],
    };
  };
  const lanes = recent.lanes.map(whole);
  const coarse = resolutionOf(before) !== resolutionOf(recent);
  return {
    ...recent,
    range: { ...recent.range, from: before.range.from },
    lanes,
    coarseUntil: coarse ? from : null,
  };
}

const resolutionOf = ({ lanes }: Answer) => lanes.find(({ kind }) => kind === 'events')?.resolution;

/** Whether something may lie before the answer: its first two days are not empty. */
export const goesOn = (recent: Answer): boolean =>
  commitsOf(recent).some(({ t }) => t < recent.range.from + 2 * DAY);

export async function getOverview(name: TableRef, now: number, signal: AbortSignal): Promise<Overview> {
  const to = Math.ceil(now / DAY) * DAY;
  const ask = (days: number) =>
    getTimeline(name, { from: to - days * DAY, to, lanes: 'alerts,commits' }, signal);
  const recent = await ask(RECENT_DAYS);
  return goesOn(recent) ? joinOverview(recent, await ask(MAX_WIDTH_MS / DAY)) : recent;
}
