// File sizes at two instants: log2 bins from 1 MiB to 4 GiB, everything smaller in one, counts on a log axis, and the
// share of files up to each size in a strip below. Numbers to coordinates; draws nothing.
import { edgeLabel } from '#lib/commit/histogram.ts';

const MIB = 2 ** 20;
export interface Bins {
  /** Lower edges of all bins but the first, bytes. */
  readonly edges: readonly number[];
  readonly after: readonly number[] | null;
  readonly before: readonly number[] | null;
}

/** The server's bins with those below 1 MiB as one. */
export function foldSmallBins(
  edges: readonly number[],
  after: readonly number[] | null,
  before: readonly number[] | null,
): Bins {
  const first = edges.findIndex((edge) => edge >= MIB);
  const at = first < 0 ? edges.length : first;
  const fold = (counts: readonly number[] | null) =>
    counts && [counts.slice(0, at + 1).reduce((sum, n) => sum + n, 0), ...counts.slice(at + 1)];
  return { edges: edges.slice(at), after: fold(after), before: fold(before) };
}

/** `< 1 MiB`, `1 MiB to 2 MiB`, `4 GiB and more`. */
export function binName(edges: readonly number[], i: number): string {
  const [low, high] = [edges[i - 1], edges[i]];
  if (low === undefined) return high === undefined ? 'any size' : `under ${edgeLabel(high)}`;
  return high === undefined ? `${edgeLabel(low)} or more` : `${edgeLabel(low)} to ${edgeLabel(high)}`;
}

/** Share of files in bin `i` and below, 0 to 1; null without files. */
export function cumulative(counts: readonly number[] | null): number[] | null {
  const total = counts?.reduce((sum, n) => sum + n, 0) ?? 0;
  if (!counts || !total) return null;
  let sum = 0;
  return counts.map((n) => (sum += n) / total);
}

export interface Box {
  readonly width: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  /** Height of the columns, and of the strip below them. */
  readonly columns: number;
  readonly strip: number;
  readonly gap: number;
}
export interface SizeChart {
  readonly bars: string;
  readonly outline: string;
  readonly line: string;
  readonly dashed: string;
  readonly ticks: readonly { x: number; text: string }[];
  readonly rules: readonly { y: number; text: string }[];
  readonly target: { x: number; width: number } | null;
}

export function sizeChart(bins: Bins, targetBytes: number | null, box: Box): SizeChart | null {
  const counts = [...(bins.after ?? []), ...(bins.before ?? [])];
  if (!counts.some((n) => n > 0)) return null;
  const many = bins.edges.length + 1;
  const wide = (box.width - box.left - box.right) / many;
  const base = box.top + box.columns;
  const most = Math.max(...counts, 10);
  const x = (bin: number) => box.left + bin * wide;
  const px = (v: number) => v.toFixed(1);
  // one file keeps a visible column: the axis starts at a third
  const y = (n: number) =>
    n <= 0 ? base : base - ((Math.log10(n) + 0.5) / (Math.log10(most) + 0.5)) * box.columns;
  const foot = base + box.gap + box.strip;
  const share = (counts: readonly number[] | null) =>
    cumulative(counts)
      ?.map(
        (part, i) => `${i ? 'L' : `M${px(x(0))} ${px(foot)}L`}${px(x(i + 1))} ${px(foot - part * box.strip)}`,
      )
      .join('') ?? '';
  return {
    bars: (bins.after ?? [])
      .map((n, i) =>
        n > 0 ? `M${px(x(i) + 1.5)} ${base}V${px(y(n))}h${px(Math.max(wide - 3, 1))}V${base}Z` : '',
      )
      .join(''),
    outline: (bins.before ?? [])
      .map((n, i) => `${i ? 'L' : 'M'}${px(x(i))} ${px(y(n))}h${px(wide)}`)
      .join(''),
    line: share(bins.after),
    dashed: share(bins.before),
    ticks: bins.edges
      .map((edge, i) => ({ x: x(i + 1), text: edgeLabel(edge) }))
      .filter((_, i) => i % Math.max(1, Math.ceil(46 / wide)) === 0),
    rules: powers(most).map((n) => ({
      y: Math.round(y(n)) + 0.5,
      text: n >= 1000 ? `${n / 1000}k` : String(n),
    })),
    target: zone(bins.edges, targetBytes, x),
  };
}

/** Iceberg's planner leaves files alone between 0.75 and 1.8 of the target. */
function zone(edges: readonly number[], target: number | null, x: (bin: number) => number) {
  const [first, last] = [edges[0], edges[edges.length - 1]];
  if (target === null || first === undefined || last === undefined) return null;
  const place = (size: number) => x(Math.min(Math.max(Math.log2(size / first) + 1, 0), edges.length + 1));
  const [from, to] = [place(target * 0.75), place(target * 1.8)];
  return { x: from, width: Math.max(to - from, 2) };
}

/** 1, 100, 10 000 … up to the largest count. */
function powers(most: number): number[] {
  const found: number[] = [];
  for (let n = 1; n <= most; n *= 100) found.push(n);
  return found;
}
