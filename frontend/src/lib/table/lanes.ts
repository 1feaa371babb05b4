// The lanes that can be shown, in the server's order of display, and the ones shown unasked (fewer on a phone); the reader's order
// and axes.
import { phone } from '#lib/preferences/phone.svelte.ts';
import type { Answer } from '#lib/api/lanes.ts';
import { ALL_LANES, DEFAULT_LANES, LANES_WITHOUT_AXIS, type LaneId } from '#lib/api/lane-specs.ts';
import { lookOf } from '#lib/timeline/shapes/lane-style.ts';

export { ALL_LANES, DEFAULT_LANES };
/** What a phone shows unasked: effect, and what most often causes it. */
const PHONE_LANES: readonly LaneId[] = ['alerts', 'job_duration', 'commits', 'data_files'];
/** What is shown unasked here. */
const usual = (): readonly string[] => (phone.current ? PHONE_LANES : DEFAULT_LANES);
const RANK = new Map<string, number>(ALL_LANES.map((lane, i) => [lane, i]));
const rank = (lane: string) => RANK.get(lane) ?? ALL_LANES.length;
const byRank = (a: string, b: string) => rank(a) - rank(b);

/** Of lanes that an address names those there are, each once; null: none is. */
export function knownLanes(named: readonly string[]): readonly string[] | null {
  const found = [...new Set(named)].filter((lane) => RANK.has(lane));
  return found.length ? found : null;
}

export const shownLanes = (asked: readonly string[] | null): readonly string[] => asked ?? usual();

/** All lanes for the menu: those shown in their order, then the others. */
export const listedLanes = (asked: readonly string[] | null): readonly string[] => {
  const shown = shownLanes(asked);
  return [...shown, ...ALL_LANES.filter((lane) => !shown.includes(lane))];
};

/** Null when it is what is shown unasked. */
const choice = (lanes: readonly string[]): readonly string[] | null =>
  lanes.join() === usual().join() ? null : lanes;

/** The choice with one lane more or less; without a chosen order it keeps the default one. At least one lane stays. */
export function toggleLane(asked: readonly string[] | null, lane: string): readonly string[] | null {
  const now = shownLanes(asked);
  const others = now.filter((each) => each !== lane);
  if (others.length === 0) return asked;
  if (others.length < now.length) return choice(others);
  const reordered = [...now].sort(byRank).join() !== now.join();
  return choice(reordered ? [...now, lane] : [...now, lane].sort(byRank));
}

/** The choice with one lane moved; it stops at the ends. */
export function moveLane(
  asked: readonly string[] | null,
  lane: string,
  by: 1 | -1,
): readonly string[] | null {
  const lanes = [...shownLanes(asked)];
  const [from, to] = [lanes.indexOf(lane), lanes.indexOf(lane) + by];
  if (from < 0 || to < 0 || to >= lanes.length) return asked;
  lanes.splice(to, 0, ...lanes.splice(from, 1));
  return choice(lanes);
}

/** The choice with one lane above all others. */
export const topLane = (asked: readonly string[] | null, lane: string): readonly string[] | null =>
  choice([lane, ...shownLanes(asked).filter((each) => each !== lane)]);

/** The lanes to request, in the server's order, so that another order is no other request. Null: its default. */
export function askedLanes(asked: readonly string[] | null): string | null {
  const lanes = asked && [...asked].sort(byRank);
  return lanes === null || lanes.join() === DEFAULT_LANES.join() ? null : lanes.join();
}

/** The answer with its lanes in the reader's order; one that was just hidden is gone before the next answer comes. */
export function inOrder(answer: Answer, asked: readonly string[] | null): Answer {
  if (asked === null && !phone.current) {
    // shown unasked only where there is something in the range
    const lanes = answer.lanes.filter(({ id, status }) => id !== 'maintenance' || status !== 'absent');
    return { ...answer, lanes };
  }
  const wanted = shownLanes(asked);
  const lanes = answer.lanes.filter(({ id }) => wanted.includes(id));
  return { ...answer, lanes: lanes.sort((a, b) => wanted.indexOf(a.id) - wanted.indexOf(b.id)) };
}

export const hasAxis = (lane: string): boolean => !LANES_WITHOUT_AXIS.includes(lane);

const ownLog: readonly string[] = ALL_LANES.filter((id) => lookOf({ id, unit: '' }).log);

export const isLog = (log: readonly string[] | null, lane: string): boolean => (log ?? ownLog).includes(lane);

/** The lanes on a logarithmic axis with one more or less; null when each is as it is by itself. */
export function toggleLog(log: readonly string[] | null, lane: string): readonly string[] | null {
  const now = log ?? ownLog;
  const next = now.includes(lane) ? now.filter((each) => each !== lane) : [...now, lane].sort(byRank);
  return next.join() === ownLog.join() ? null : next;
}
