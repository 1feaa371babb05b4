// The timeline as one self-contained SVG: what, when, in which zone, its lanes, its legend, its link. No DOM.
import { instant, zoneAt } from '#lib/format/instant.ts';
import { crisp, frameOf, type Frame } from '#lib/timeline/shapes/frame.ts';
import { isSeries, type Answer, type Lane } from '#lib/api/lanes.ts';
import { chosenLog, lookOf, type Look } from '#lib/timeline/shapes/lane-style.ts';
import { bars, marks, series, type PlottedLane } from './picture-lanes.ts';
import { legend } from './picture-legend.ts';
import { element, escapeXml, HEAD, LIGHT, short, UNREAD, words } from './picture-parts.ts';
import { timeScale } from '#lib/timeline/axes/scale.ts';

export interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

export interface PictureSource {
  readonly answer: Answer;
  /** The present, epoch ms. */
  readonly now: number;
  /** Which table. */
  readonly title: string;
  /** The page that shows the same. */
  readonly link: string;
  /** Lanes on a logarithmic axis, where the reader chose. */
  readonly log?: readonly string[] | null;
}

const WIDTH = 1200;
const RIGHT = 24;
const TOP = 92;
const LINK_CHARS = 168;

export function pictureOf({ answer, now, title, link, log = null }: PictureSource): Picture {
  const scale = timeScale(answer.range.from, answer.range.to, WIDTH - HEAD - RIGHT);
  const frame = frameOf(answer, scale, now);
  const lanes = answer.lanes.filter(({ status }) => status !== 'absent');
  let y = TOP;
  const rows = lanes.map((lane) => {
    const look = lookOf(lane, chosenLog(log, lane.id));
    const row = laneRow(lane, look, answer, frame, y);
    y += look.height;
    return row;
  });
  const address = link.match(new RegExp(`.{1,${LINK_CHARS}}`, 'gu')) ?? [];
  const height = y + 60 + address.length * 14;
  const parts = [
    element('title', {}, escapeXml(title)),
    PATTERNS,
    element('rect', { width: WIDTH, height, fill: LIGHT.bg }),
    words(24, 34, short(title, 90), { 'font-size': 20, 'font-weight': 600 }),
    words(24, 56, `${instant(answer.range.from)} to ${instant(answer.range.to)}`, { fill: LIGHT.muted }),
    axis(frame),
    ...rows,
    legend(answer, frame, y + 26),
    ...address.map((line, i) =>
      words(24, y + 54 + i * 14, line, { 'font-size': 10, fill: LIGHT.muted, 'font-family': 'monospace' }),
    ),
  ];
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    ...{ width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}` },
    'font-family': "ui-sans-serif, system-ui, 'Segoe UI', Roboto, Arial, sans-serif",
  };
  return { svg: element('svg', attributes, ...parts), width: WIDTH, height };
}

const PATTERNS = element(
  'defs',
  {},
  element(
    'pattern',
    { id: 'unread', width: 6, height: 6, patternUnits: 'userSpaceOnUse' },
    element('path', { d: 'M0 6 6 0M0 0l6 6', stroke: LIGHT.unknown, 'stroke-opacity': 0.4, fill: 'none' }),
  ),
);

function axis({ scale }: Frame): string {
  const labels = scale.ticks
    .filter(({ px }) => px > 20 && px < scale.width - 20)
    .map(({ px, label }) =>
      words(HEAD + px, TOP - 8, label, { 'font-size': 11, 'text-anchor': 'middle', fill: LIGHT.muted }),
    );
  return labels.join('') + words(24, TOP - 8, zoneAt(scale.from), { 'font-size': 11, fill: LIGHT.muted });
}

const NOTHING: PlottedLane = { drawn: '', ticks: '' };

function laneRow(lane: Lane, look: Look, answer: Answer, frame: Frame, top: number): string {
  const { width } = frame.scale;
  const line = (y: number) =>
    element('line', { x1: 0, x2: WIDTH, y1: y, y2: y, stroke: LIGHT.hairline, 'stroke-width': 1 });
  const middle = look.height / 2;
  const named = [
    words(24, middle, look.title, { 'font-weight': 600, 'font-size': 13 }),
    words(24, middle + 16, short([look.unit, lane.label].filter(Boolean).join(' · '), 17), {
      'font-size': 11,
      fill: LIGHT.muted,
    }),
  ];
  const grid = element('path', {
    d: frame.scale.ticks.map(({ px }) => `M${crisp(px)} 0V${look.height}`).join('') || 'M0 0',
    stroke: LIGHT.grid,
    fill: 'none',
  });
  const unread =
    lane.source === 'meta' && frame.unreadFrom !== null
      ? element('rect', {
          ...{ x: frame.unreadFrom, y: 0, height: look.height, fill: UNREAD },
          width: Math.max(0, frame.nowPx - frame.unreadFrom),
        })
      : '';
  const plotted = isSeries(lane) && lane.status !== 'error' ? series(lane, look, answer, frame) : NOTHING;
  const drawn =
    lane.status === 'error'
      ? words(8, middle + 4, short(lane.problem?.detail ?? 'The source failed.', 140), { fill: LIGHT.crit })
      : isSeries(lane)
        ? plotted.drawn
        : lane.kind === 'bars'
          ? bars(lane, frame, look.height)
          : marks(lane, frame, look.height);
  const clip = { x: HEAD, y: 0, width: width + 1, height: look.height, overflow: 'hidden' };
  return element(
    'g',
    { transform: `translate(0 ${top})` },
    line(0),
    ...named,
    plotted.ticks,
    element('svg', clip, grid, drawn, unread),
  );
}
