// Values to the two paths of a spark line. The scale runs from the smallest to the largest known value.

const PAD = 2;

/** `line` and `area` as path data; a null or non-finite value breaks both. */
export function sparkPath(
  values: readonly (number | null)[],
  width: number,
  height: number,
): { line: string; area: string } {
  const known = values.filter((v): v is number => v !== null && Number.isFinite(v));
  if (known.length === 0) return { line: '', area: '' };
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const flat = high === low;
  const x = (i: number) => (values.length < 2 ? width / 2 : (i / (values.length - 1)) * width).toFixed(1);
  // a flat series is in the middle: it says "no change", not "zero"
  const y = (v: number) =>
    (flat ? height / 2 : height - PAD - ((v - low) / (high - low)) * (height - 2 * PAD)).toFixed(1);
  let [line, area] = ['', ''];
  for (const [from, to] of spans(values)) {
    const points = values.slice(from, to).map((v, i) => `${x(from + i)} ${y(v ?? low)}`);
    // a lone point still shows: a round cap needs a length
    line += `M${points.join('L')}${points.length === 1 ? 'h.01' : ''}`;
    area += `M${x(from)} ${height}L${points.join('L')}V${height}Z`;
  }
  return { line, area };
}

/** Half-open index ranges of neighbouring known values. */
function spans(values: readonly (number | null)[]): [number, number][] {
  const found: [number, number][] = [];
  let start = -1;
  for (let i = 0; i <= values.length; i++) {
    const v = values[i];
    const known = v !== null && v !== undefined && Number.isFinite(v);
    if (known && start < 0) start = i;
    if (!known && start >= 0) {
      found.push([start, i]);
      start = -1;
    }
  }
  return found;
}
