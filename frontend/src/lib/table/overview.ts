// What the overview above a timeline asks for: the commits of all that is known, by the hour for two months, by the day
// before. Loaded after the page's first answer.
import { getTimeline } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import { commitsOf, type Answer } from '#lib/timeline/lane.ts';

const DAY = 86_400_000;
const RECENT_DAYS = 60;
/** As long as hours are kept. */
const MOST_DAYS = 400;

/** The recent answer with the commits of before in front. */
export function joined(recent: Answer, before: Answer): Answer {
  const { from } = recent.range;
  const older = commitsOf(before).filter(({ t }) => t < from);
  const lanes = recent.lanes.map((lane) =>
    lane.kind === 'events' ? { ...lane, events: [...older, ...lane.events] } : lane,
  );
  return { ...recent, range: { ...recent.range, from: before.range.from }, lanes };
}

/** Whether something may lie before the answer: its first two days are not empty. */
export const goesOn = (recent: Answer): boolean =>
  commitsOf(recent).some(({ t }) => t < recent.range.from + 2 * DAY);

export async function getOverview(name: TableRef, now: number, signal: AbortSignal): Promise<Answer> {
  const to = Math.ceil(now / DAY) * DAY;
  const ask = (days: number) => getTimeline(name, { from: to - days * DAY, to, lanes: 'commits' }, signal);
  const recent = await ask(RECENT_DAYS);
  return goesOn(recent) ? joined(recent, await ask(MOST_DAYS)) : recent;
}
