// File sizes as a histogram: log2 bins side by side, counts on a log axis. Numbers to coordinates; draws nothing.

export interface HistogramBox {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}
export interface Histogram {
  /** Filled columns, one path. */
  bars: string;
  /** Outline of the state before, one path; empty when it was not read. */
  outline: string;
  /** Labels of bin edges. */
  ticks: { x: number; text: string }[];
  /** Labels of counts. */
  rules: { y: number; text: string }[];
  /** The target size's columns. */
  target: { x: number; width: number } | null;
}

const KIB = 1024;
const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `8 KiB`, `128 MiB`: edges are powers of two, so binary units are exact. */
export function edgeLabel(edge: number): string {
  let unit = 0;
  let size = edge;
  while (size >= KIB && unit < SIZES.length - 1) {
    size /= KIB;
    unit += 1;
  }
  return `${Number(size.toFixed(1))} ${SIZES[unit]}`;
}

/** Name of bin `i` of `edges.length + 1`: `under 8 KiB`, `1 MiB to 2 MiB`, `4 GiB and more`. */
export function binLabel(edges: readonly number[], i: number): string {
  const [low, high] = [edges[i - 1], edges[i]];
  if (low === undefined) return high === undefined ? 'any size' : `under ${edgeLabel(high)}`;
  return high === undefined ? `${edgeLabel(low)} or more` : `${edgeLabel(low)} to ${edgeLabel(high)}`;
}

/** The bin that a file of `size` bytes falls in. */
export function binOf(edges: readonly number[], size: number): number {
  const above = edges.findIndex((edge) => size < edge);
  return above < 0 ? edges.length : above;
}

/** First and last bin that hold a file before or after: empty ends are not drawn. */
export function usedBins(
  ...series: readonly (readonly number[] | null)[]
): { first: number; last: number } | null {
  const used = series.flatMap((counts) => (counts ?? []).flatMap((n, i) => (n > 0 ? [i] : [])));
  return used.length ? { first: Math.min(...used), last: Math.max(...used) } : null;
}

export function histogram(
  edges: readonly number[],
  before: readonly number[] | null,
  after: readonly number[] | null,
  targetBytes: number | null,
  box: HistogramBox,
): Histogram | null {
  const used = usedBins(before, after);
  if (used === null) return null;
  const targetBin = targetBytes === null ? null : binOf(edges, targetBytes);
  const first = Math.max(0, Math.min(used.first, targetBin ?? used.first) - 1);
  const last = Math.min(edges.length, Math.max(used.last, targetBin ?? used.last) + 1);
  const bins = last - first + 1;
  const most = Math.max(...(before ?? []), ...(after ?? []), 10);
  const base = box.height - box.bottom;
  const wide = (box.width - box.left - box.right) / bins;
  const x = (bin: number) => box.left + (bin - first) * wide;
  // a count of one keeps a visible column: the axis starts at a third
  const y = (n: number) =>
    n <= 0 ? base : base - ((Math.log10(n) + 0.5) / (Math.log10(most) + 0.5)) * (base - box.top);
  const each = Array.from({ length: bins }, (_, i) => first + i);
  const px = (v: number) => v.toFixed(1);
  return {
    bars: each
      .filter((bin) => (after?.[bin] ?? 0) > 0)
      .map((bin) => `M${px(x(bin) + 1.5)} ${base}V${px(y(after?.[bin] ?? 0))}h${px(wide - 3)}V${base}Z`)
      .join(''),
    outline: before
      ? each.map((bin, i) => `${i ? 'L' : 'M'}${px(x(bin))} ${px(y(before[bin] ?? 0))}h${px(wide)}`).join('')
      : '',
    ticks: edgeTicks(edges, first, last, wide).map((bin) => ({
      x: x(bin + 1),
      text: edgeLabel(edges[bin] ?? 0),
    })),
    rules: powersUpTo(most).map((n) => ({
      y: Math.round(y(n)) + 0.5,
      text: n >= 1000 ? `${n / 1000}k` : String(n),
    })),
    target: targetBin === null ? null : { x: x(targetBin), width: wide },
  };
}

const LABEL_PX = 52;
/** Bins whose upper edge gets a label: as many as fit. */
function edgeTicks(edges: readonly number[], first: number, last: number, wide: number): number[] {
  const every = Math.max(1, Math.ceil(LABEL_PX / wide));
  const bins: number[] = [];
  for (let bin = first; bin < last && bin < edges.length; bin += every) bins.push(bin);
  return bins;
}

/** 1, 100, 10 000 … up to the largest count. */
function powersUpTo(most: number): number[] {
  const found: number[] = [];
  for (let n = 1; n <= most; n *= 100) found.push(n);
  return found;
}
