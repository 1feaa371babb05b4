// The curve of held bytes by age as a path: what an expiry would free, by how old snapshots may be at most. Pure.

export type AgePoint = readonly [days: number, bytes: number];

export const WIDTH = 480;
export const HEIGHT = 120;

/** Points of the curve on the plane: ages to the right by equal steps of their logarithm, bytes upwards. */
export function curveOf(
  points: readonly AgePoint[],
): { x: number; y: number; days: number; bytes: number }[] {
  const sorted = points.toSorted(([a], [b]) => a - b);
  const most = Math.max(...sorted.map(([, bytes]) => bytes), 0);
  const place = (days: number) => Math.log1p(Math.max(0, days));
  const [first, last] = [place(sorted[0]?.[0] ?? 0), place(sorted.at(-1)?.[0] ?? 0)];
  const wide = last - first || 1;
  return sorted.map(([days, bytes]) => ({
    ...{ days, bytes },
    x: ((place(days) - first) / wide) * WIDTH,
    y: HEIGHT - (most ? bytes / most : 0) * HEIGHT,
  }));
}

/** A line through the points, as steps: between two ages nothing is claimed but the older one. */
export function stepsPath(points: readonly { x: number; y: number }[]): string {
  return points
    .map(({ x, y }, i) => (i === 0 ? `M${round(x)} ${round(y)}` : `H${round(x)}V${round(y)}`))
    .join('');
}
const round = (value: number) => Number(value.toFixed(1));

/** `1 day`, `30 days`, `12 hours`: an age. */
export function ageText(days: number): string {
  if (days > 0 && days < 1) return unit(Math.round(days * 24), 'hour');
  return unit(Number(days.toFixed(1)), 'day');
}
const unit = (value: number, word: string) => `${value} ${word}${value === 1 ? '' : 's'}`;
