// What the legend says of marks beside their operations: hollow, dotted, ringed, flagged; and of thin lines. Only what is drawn.
import { clock } from '#lib/format/instant.ts';
import { commitsOf, medianOf, type Answer } from '#lib/api/lanes.ts';

export interface Sign {
  readonly look: 'hollow' | 'expired' | 'suspect' | 'flag' | 'median' | 'unread';
  /** In a 16 px box. */
  readonly path: string;
  readonly text: string;
}

const RING = 'M14 8A6 6 0 1 1 2 8A6 6 0 1 1 14 8Z';
const TRIANGLE = 'M8 3L13.2 12.5H2.8Z';
const LINE = 'M0 8H16';
const HATCH = 'M2 14 14 2M2 2l12 12';
const CLOTH = 'M4 14V2l8 3.5-8 3.5Z';

/** `noted`: the commit that an explanation or the table's reason names. */
export function signsOf(answer: Answer, noted: string | null): Sign[] {
  const median = answer.lanes.some(medianOf);
  const thin: Sign[] = median ? [{ look: 'median', path: LINE, text: 'thin: median run' }] : [];
  const spans = answer.lanes.flatMap((lane) => ('unread' in lane ? lane.unread : []));
  const [from, to] = [Math.min(...spans.map(([at]) => at)), Math.max(...spans.map(([, at]) => at))];
  const text = `not read ${clock(from)} to ${clock(to)}: follows when the pipeline is idle`;
  const hatched: Sign[] = spans.length ? [{ look: 'unread', path: HATCH, text }] : [];
  return [...ofCommits(answer, noted), ...thin, ...hatched];
}

function ofCommits(answer: Answer, noted: string | null): Sign[] {
  const { from, to } = answer.range;
  const lane = answer.lanes.find(({ kind }) => kind === 'events');
  if (lane?.kind !== 'events') return [];
  const inside = commitsOf(answer).filter(({ t }) => t >= from && t < to);
  const off = lane.off_ref ?? null;
  const isOff = inside.some(({ snapshot_id: id, on_main: main }) => (off ? off.includes(id) : !main));
  const signs: Sign[] = [];
  if (isOff)
    signs.push({ look: 'hollow', path: TRIANGLE, text: off ? 'not on the chosen ref' : 'not on main' });
  if (inside.some(({ expired }) => expired)) signs.push({ look: 'expired', path: TRIANGLE, text: 'expired' });
  if (inside.some(({ snapshot_id: id }) => id === noted))
    signs.push({ look: 'suspect', path: RING, text: 'suspect' });
  if (lane.flags?.some(({ t }) => t >= from && t < to))
    signs.push({ look: 'flag', path: CLOTH, text: 'ref moved' });
  return signs;
}
