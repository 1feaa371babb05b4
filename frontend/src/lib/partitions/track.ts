// Data files of the table over the range as one stepped line, and the two instants on it. Numbers to coordinates.

export interface Track {
  readonly t: readonly number[];
  readonly data_files: readonly (number | null)[];
}
export interface Frame {
  readonly from: number;
  readonly to: number;
  readonly width: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly height: number;
}

export const xOf = (t: number, { from, to, width, left, right }: Frame): number =>
  left + (Math.min(Math.max((t - from) / (to - from), 0), 1) || 0) * (width - left - right);

/** The instant below a pointer, in whole minutes. */
export function instantAt(x: number, { from, to, width, left, right }: Frame): number {
  const share = Math.min(Math.max((x - left) / Math.max(width - left - right, 1), 0), 1);
  return Math.round((from + share * (to - from)) / 60_000) * 60_000;
}

/** The line and the area below it; a null breaks both. A square root, so that small changes show beside a burst. */
export function paths({ t, data_files: files }: Track, frame: Frame): { line: string; area: string } {
  const most = Math.max(1, ...files.map((n) => n ?? 0));
  const base = frame.top + frame.height;
  const px = (v: number) => v.toFixed(1);
  const y = (n: number) => base - Math.sqrt(n / most) * frame.height;
  let [line, area] = ['', ''];
  files.forEach((n, i) => {
    if (n === null) return;
    const [x, end] = [xOf(t[i] ?? frame.from, frame), xOf(t[i + 1] ?? frame.to, frame)];
    const joined = i > 0 && files[i - 1] !== null;
    line += joined ? `V${px(y(n))}H${px(end)}` : `M${px(x)} ${px(y(n))}H${px(end)}`;
    area += `M${px(x)} ${base}V${px(y(n))}H${px(end)}V${base}Z`;
  });
  return { line, area };
}

/** Data files at an instant; null: not known. */
export function filesAt({ t, data_files: files }: Track, at: number): number | null {
  let found: number | null = null;
  for (let i = 0; i < t.length && (t[i] ?? Infinity) <= at; i += 1) found = files[i] ?? null;
  return found;
}

/** When most files came or went, and how many; null: nothing changed, or it is not known. */
export function largestChange({ t, data_files: files }: Track): { at: number; files: number } | null {
  let found: { at: number; files: number } | null = null;
  for (let i = 1; i < t.length; i += 1) {
    const [before, after] = [files[i - 1] ?? null, files[i] ?? null];
    if (before === null || after === null || before === after) continue;
    if (Math.abs(after - before) > Math.abs(found?.files ?? 0))
      found = { at: t[i] as number, files: after - before };
  }
  return found;
}

/** Where a key moves an instant: steps of a hundredth of the range, or to its ends; null: it is none of ours. */
export function nudgeInstant(at: number, key: string, from: number, to: number): number | null {
  const step = Math.max(60_000, Math.round((to - from) / 100 / 60_000) * 60_000);
  const by: Record<string, number> = {
    ArrowLeft: -step,
    ArrowDown: -step,
    ArrowRight: step,
    ArrowUp: step,
    PageDown: -10 * step,
    PageUp: 10 * step,
  };
  if (key === 'Home') return from;
  if (key === 'End') return to;
  const change = by[key];
  return change === undefined ? null : Math.min(Math.max(at + change, from), to);
}
