// The drawings of lanes in a picture: series, bars, commits. As SVG text.
import { isCritical } from '#lib/api/severity.ts';
import { alertRows, deltaPaths, runPaths, shapes } from '#lib/timeline/shapes/bars.ts';
import { earlierOf } from '#lib/timeline/shapes/compare.ts';
import { placedFlags } from '#lib/timeline/shapes/flags.ts';
import { crisp, type Frame } from '#lib/timeline/shapes/frame.ts';
import { commitsOf, holds, isRuns, mainColumn, medianOf } from '#lib/api/lanes.ts';
import type { Answer, BarsLane, EventsLane, SeriesLane } from '#lib/api/lanes.ts';
import type { Look } from '#lib/timeline/shapes/lane-style.ts';
import { cluster, halfWidth, radius, type Mark } from '#lib/timeline/shapes/marks.ts';
import { lineBand, linePath, stepBand, stepPath } from '#lib/timeline/shapes/path.ts';
import { element, glyph, HEAD, LIGHT, short, words } from './picture-parts.ts';
import { valuesOf } from '#lib/timeline/shapes/values.ts';

export interface PlottedLane {
  readonly drawn: string;
  /** Beside the plot. */
  readonly ticks: string;
}
export function series(lane: SeriesLane, look: Look, answer: Answer, frame: Frame): PlottedLane {
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
    path(draw(medianOf(lane) ?? [], way), { stroke: tone, 'stroke-opacity': 0.75 }),
    path(draw(mainColumn(lane), way), { stroke: tone, 'stroke-width': 1.75 }),
  ].join('');
  return { drawn, ticks: ticks.join('') };
}

export function bars(lane: BarsLane, frame: Frame, height: number): string {
  if (isRuns(lane.id)) {
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
      const tone = isCritical(bar.severity) ? LIGHT.crit : LIGHT.warn;
      const look = row
        ? { fill: pending ? LIGHT.bg : tone, stroke: tone }
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

export function marks({ events, flags, off_ref }: EventsLane, frame: Frame, height: number): string {
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
  const look = { hollow, expired: commits.every(({ expired }) => expired) };
  if (commits.length === 1) return glyph(top.operation, px, y, radius(top) * 2 + 2, look);
  const half = halfWidth(commits.length);
  const pill = { x: px - half, y: y - 11, width: half * 2, height: 22, rx: 11 };
  return (
    element('rect', { ...pill, fill: LIGHT.bg, stroke: LIGHT.control }) +
    glyph(top.operation, px - half + 11, y, 12, look) +
    words(px - half + 19, y + 4, String(commits.length), { 'font-weight': 600 })
  );
}
