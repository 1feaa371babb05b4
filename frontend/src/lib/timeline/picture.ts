// The timeline as one SVG that stands alone: what, when, in which zone, its lanes, its legend, where it came from. No DOM.
import { duration } from '#lib/format/duration.ts';
import { count } from '#lib/format/count.ts';
import { clockSeconds, instant, zoneAt } from '#lib/format/instant.ts';
import { operationName } from '#lib/ui/operation.ts';
import { alertRows, deltaPaths, runPaths, shapes } from './bars.ts';
import { earlierOf } from './compare.ts';
import { placedFlags } from './flags.ts';
import { crisp, frameOf, type Frame } from './frame.ts';
import { commitsOf, holds, isSeries, mainColumn } from './lane.ts';
import type { Answer, BarsLane, EventsLane, Lane, SeriesLane } from './lane.ts';
import { chosenLog, lookOf, type Look } from './look.ts';
import { changed, cluster, halfWidth, radius, type Mark } from './marks.ts';
import { lineBand, linePath, stepBand, stepPath, weightOf } from './path.ts';
import { element, escaped, glyph, LIGHT, short, words } from './picture-parts.ts';
import { timeScale } from './scale.ts';
import { valuesOf } from './values.ts';

export interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

export interface Shown {
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
const HEAD = 176;
const RIGHT = 24;
const TOP = 92;
const LINK_CHARS = 168;
const UNREAD = 'url(#unread)';

export function pictureOf({ answer, now, title, link, log = null }: Shown): Picture {
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
    element('title', {}, escaped(title)),
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

interface Plotted {
  readonly drawn: string;
  /** Beside the plot. */
  readonly ticks: string;
}
const NOTHING: Plotted = { drawn: '', ticks: '' };

function series(lane: SeriesLane, look: Look, answer: Answer, frame: Frame): Plotted {
  const tone = LIGHT[`series-${look.tone}`];
  const commits = commitsOf(answer);
  const withDeltas = lane.id === 'data_files' && commits.length > 0;
  const earlier = earlierOf(answer, lane);
  const values = valuesOf(lane, look, { height: look.height, compact: false, withDeltas }, earlier);
  const held = holds(lane);
  const right = lane.source === 'meta' ? (frame.unreadFrom ?? frame.scale.width) : frame.scale.width;
  const way = { xs: held ? frame.heldXs : frame.xs, y: values.y, clip: right + 1 };
  const draw = held ? stepPath : linePath;
  const [low, high] = lane.kind === 'band' ? [lane.lo, lane.hi] : [lane.min, lane.max];
  const target = lane.kind === 'step' ? null : (lane.target ?? null);
  const path = (d: string, attributes: Readonly<Record<string, string | number>>) =>
    d ? element('path', { d, fill: 'none', 'stroke-linejoin': 'round', ...attributes }) : '';
  const deltas = withDeltas ? deltaPaths(commits, frame.scale, look.height - 11) : null;
  const ticks = values.ticks.map(({ value, y }) =>
    words(HEAD - 6, y + 4, look.printTick(value), {
      ...{ 'font-size': 10, 'text-anchor': 'end', fill: LIGHT.muted },
    }),
  );
  const drawn = [
    low && high
      ? path((held ? stepBand : lineBand)(low, high, way), { fill: tone, 'fill-opacity': 0.2 })
      : '',
    look.filled ? path(draw(mainColumn(lane), way, values.base), { fill: tone, 'fill-opacity': 0.12 }) : '',
    target === null
      ? ''
      : path(`M0 ${crisp(values.y(target))}H${frame.scale.width}`, {
          ...{ stroke: LIGHT.control, 'stroke-dasharray': '5 4' },
        }),
    deltas ? path(deltas.added, { fill: tone }) + path(deltas.removed, { fill: LIGHT.accent }) : '',
    earlier
      ? path(draw(mainColumn(earlier), { xs: frame.xs, y: values.y, clip: Infinity }), {
          ...{ stroke: LIGHT['series-base'], 'stroke-width': 1.5, 'stroke-dasharray': '4 4' },
        })
      : '',
    path(draw(mainColumn(lane), way), { stroke: tone, 'stroke-width': 1.75 }),
  ].join('');
  return { drawn, ticks: ticks.join('') };
}

function bars(lane: BarsLane, frame: Frame, height: number): string {
  if (lane.id === 'job_runs') {
    const runs = runPaths(lane.bars, frame.scale, frame.nowPx, height);
    const path = (d: string, fill: string, opacity = 1) =>
      d ? element('path', { d, fill, 'fill-opacity': opacity }) : '';
    const crosses = { d: runs.crosses || 'M0 0', stroke: LIGHT.bg, 'stroke-width': 1.5, fill: 'none' };
    return (
      path(runs.ok, LIGHT['series-job'], 0.7) +
      path(runs.running, LIGHT['series-job'], 0.3) +
      path(runs.failed, LIGHT.crit) +
      element('path', crosses)
    );
  }
  const found = shapes(
    lane.bars,
    frame.scale,
    lane.source === 'meta' ? (frame.unreadFrom ?? frame.nowPx) : frame.nowPx,
  );
  const alerts = lane.id === 'alerts' ? alertRows(found, height) : null;
  return found
    .map(({ bar, left, right }, i) => {
      const row = alerts?.rows[i];
      const tall = row ? (alerts?.rowHeight ?? 18) - 2 : 18;
      const y = row ? row.top + 1 : height / 2 - 9;
      const wide = Math.max(2, right - left);
      const pending = bar.state === 'pending';
      const look = row
        ? { fill: pending ? LIGHT.bg : LIGHT.crit, stroke: LIGHT.crit }
        : { fill: i % 2 ? LIGHT.s2 : LIGHT.s1, stroke: LIGHT.hairline };
      const said = row ? `${bar.label} ${bar.state}` : bar.label;
      const room = Math.floor((wide - 12) / 6.6);
      return (
        element('rect', { x: left, y, width: wide, height: tall, ...look }) +
        (room > 3
          ? words(left + 6, y + tall / 2 + 4, short(said, room), {
              'font-size': 11,
              fill: row && !pending ? LIGHT.bg : LIGHT.text,
            })
          : '')
      );
    })
    .join('');
}

function marks({ events, flags, off_ref }: EventsLane, frame: Frame, height: number): string {
  const { from, to, px } = frame.scale;
  const off = off_ref ? new Set(off_ref) : null;
  const inView = events.filter(({ t }) => t >= from && t <= to);
  const y = height / 2 - 6;
  const moved = placedFlags(flags ?? [], frame.scale).map(
    ({ px: x, name }) =>
      element('path', { d: `M${crisp(x)} ${y}V2l9 3.5-9 3.5`, stroke: LIGHT.accent, fill: LIGHT.accent }) +
      words(x + 12, 10, short(name, 24), { 'font-size': 11, fill: LIGHT.muted }),
  );
  const drawn = cluster(inView, px).map((mark) => {
    const label = mark.label
      ? words(mark.px, height - 6, mark.label, {
          'font-size': 11,
          'text-anchor': 'middle',
          fill: LIGHT.muted,
        })
      : '';
    return markOf(mark, y, off ? off.has(mark.top.snapshot_id) : !mark.top.on_main) + label;
  });
  return [...moved, ...drawn].join('');
}

function markOf({ px, commits, top }: Mark, y: number, hollow: boolean): string {
  if (commits.length === 1) return glyph(top.operation, px, y, radius(top) * 2 + 2, hollow);
  const half = halfWidth(commits.length);
  const pill = { x: px - half, y: y - 11, width: half * 2, height: 22, rx: 11 };
  return (
    element('rect', { ...pill, fill: LIGHT.bg, stroke: LIGHT.control }) +
    glyph(top.operation, px - half + 11, y, 12, hollow) +
    words(px - half + 19, y + 4, String(commits.length), { 'font-weight': 600 })
  );
}

/** Operations with their counts, the largest commit, what dashes and hatches mean. */
function legend(answer: Answer, { scale, unreadFrom }: Frame, y: number): string {
  const inside = commitsOf(answer).filter(({ t }) => t >= scale.from && t <= scale.to);
  const counts = new Map<string | null, number>();
  for (const { operation } of inside) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  let x = 24;
  let out = '';
  const say = (text: string) => {
    out += words(x, y, text, { fill: LIGHT.muted });
    x += text.length * 6.6 + 18;
  };
  for (const [operation, times] of counts) {
    out += glyph(operation, x + 6, y - 4, 12);
    x += 16;
    say(`${short(operationName(operation), 24)} ${count(times)}`);
  }
  if (answer.cmp) say(`dashed: ${duration(answer.cmp.seconds)} earlier`);
  if (unreadFrom !== null) {
    const until = answer.watermark === null ? 'yet' : `after ${clockSeconds(answer.watermark)}`;
    out += element('rect', { x, y: y - 9, width: 14, height: 10, fill: UNREAD, stroke: LIGHT.unknown });
    x += 20;
    say(`metadata not read ${until}`);
  }
  const [first] = inside;
  if (first) {
    const top = inside.reduce((most, commit) => (weightOf(commit) > weightOf(most) ? commit : most), first);
    say(`largest: ${changed(top)} files at ${clockSeconds(top.t)}, snapshot ${top.snapshot_id}`);
  }
  return out;
}
