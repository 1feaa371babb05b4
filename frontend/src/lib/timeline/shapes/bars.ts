// Spans of a state (runs, alerts, versions) to pixels. Runs too short to distinguish become the share of busy time.
import { beginOf, type Bar } from '#lib/api/lanes.ts';
import type { TimeScale } from '#lib/timeline/axes/scale.ts';

const round = (px: number) => Math.round(px * 10) / 10;
/** Runs whose starts lie nearer than this would touch. */
const TOUCHING_PX = 3.5;
const BIN_PX = 4;
const LEAST_PX = 1.6;

export interface Shape {
  readonly bar: Bar;
  readonly left: number;
  readonly right: number;
  /** Still so at the right edge. */
  readonly open: boolean;
}

/** Bars inside the scale, clipped to it; an open bar ends at `nowPx`. */
export function shapes(bars: readonly Bar[], scale: TimeScale, nowPx: number): Shape[] {
  const out: Shape[] = [];
  for (const bar of bars) {
    const left = Math.max(0, scale.px(beginOf(bar)));
    const right = Math.min(scale.width, bar.end === null ? nowPx : scale.px(bar.end));
    if (right < 0 || left > scale.width || right < left) continue;
    out.push({ bar, left, right, open: bar.end === null });
  }
  return out;
}

/**
 * Alerts in rows: all episodes of one alert in one, each row as high as there is room for. A pending time touches the firing
 * that follows it.
 */
export function alertRows(
  found: readonly Shape[],
  height: number,
): { rows: readonly { readonly shape: Shape; readonly top: number }[]; rowHeight: number } {
  const labels = [...new Set(found.map(({ bar }) => bar.label))];
  const rowHeight = Math.min(18, (height - 6) / Math.max(1, labels.length));
  const first = (height - labels.length * rowHeight) / 2;
  const rows = found.map((shape) => ({ shape, top: first + labels.indexOf(shape.bar.label) * rowHeight }));
  return { rows, rowHeight };
}

export interface RunPaths {
  readonly ok: string;
  readonly running: string;
  readonly failed: string;
  /** The cross on failed runs: shape beside colour. */
  readonly crosses: string;
  /** True when `ok` is a profile of busy time, not single runs. */
  readonly dense: boolean;
}

/** Runs in a strip of `height` pixels. A failed run is never absorbed in the profile. */
export function runPaths(bars: readonly Bar[], scale: TimeScale, nowPx: number, height: number): RunPaths {
  const found = shapes(bars, scale, nowPx);
  const dense = touching(found);
  const [top, thick] = [height / 2 - 6, 12];
  let [ok, running, failed, crosses] = ['', '', '', ''];
  if (dense) ok = profile(found, scale.width, height);
  for (const { bar, left, right, open } of found) {
    const width = round(Math.max(LEAST_PX, right - left));
    const d = `M${round(left)} ${top}h${width}v${thick}h${-width}Z`;
    if (bar.state === 'failed') {
      failed += d;
      crosses += `M${round((left + right) / 2 - 3)} ${top + 3}l6 6m0 -6l-6 6`;
    } else if (bar.start === null)
      ok += d; // a point of time: it has no share in a profile
    else if (dense) continue;
    else if (open) running += d;
    else ok += d;
  }
  return { ok, running, failed, crosses, dense };
}

function touching(found: readonly Shape[]): boolean {
  if (found.length < 8) return false;
  const gaps = found.slice(1).map((shape, i) => shape.left - (found[i] as Shape).left);
  return (gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0) < TOUCHING_PX;
}

/** Share of every 4 px in which at least one run was under way. */
function profile(found: readonly Shape[], width: number, height: number): string {
  const busy = new Float64Array(Math.ceil(width / BIN_PX) + 1);
  for (const { left, right } of found) {
    for (let bin = Math.floor(left / BIN_PX); bin <= Math.floor(right / BIN_PX) && bin < busy.length; bin++) {
      const inside = Math.min(right, (bin + 1) * BIN_PX) - Math.max(left, bin * BIN_PX);
      busy[bin] = Math.min(1, (busy[bin] as number) + inside / BIN_PX);
    }
  }
  let d = '';
  const floor = height - 7;
  for (const [bin, share] of busy.entries())
    if (share > 0)
      d += `M${bin * BIN_PX} ${floor}v${round(-share * (height - 14))}h${BIN_PX - 0.5}V${floor}Z`;
  return d;
}

export interface DeltaPaths {
  readonly added: string;
  readonly removed: string;
}

/** Files added and removed by each commit, logarithmic height, up and down from `floor`. */
export function deltaPaths(
  commits: readonly { t: number; added_data_files: number | null; removed_data_files: number | null }[],
  scale: TimeScale,
  floor: number,
): DeltaPaths {
  let [added, removed] = ['', ''];
  for (const commit of commits) {
    const px = scale.px(commit.t);
    if (px < -2 || px > scale.width + 2) continue;
    const bar = (height: number) => `M${round(px - 1.5)} ${floor}v${round(height)}h3V${floor}Z`;
    if (commit.added_data_files) added += bar(-1 - Math.log10(1 + commit.added_data_files) * 3.2);
    if (commit.removed_data_files)
      removed += bar(Math.min(8, 1 + Math.log10(1 + commit.removed_data_files) * 1.6));
  }
  return { added, removed };
}
