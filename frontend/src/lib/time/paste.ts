// Time ranges as other programs copy them: Grafana's `{"from":…,"to":…}`, an ISO interval `from/to`, `now-6h`.
import { parseBound, resolveRange, type RangeText } from './range.ts';

const bound = (value: unknown): string =>
  typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';

/** Null when the text is none of these, or the range is empty. `now`: epoch ms. */
export function readPasted(text: string, now: number): RangeText | null {
  const range = fromJson(text) ?? fromInterval(text.trim()) ?? fromRelative(text.trim());
  return range && resolveRange(range, now) ? range : null;
}

function fromJson(text: string): RangeText | null {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read !== 'object' || read === null || !('from' in read) || !('to' in read)) return null;
    return { from: bound(read.from), to: bound(read.to) };
  } catch {
    return null;
  }
}

function fromInterval(text: string): RangeText | null {
  const [from, to, ...rest] = text.split(/\s*(?:\/(?![mhdw]\b)|\s–\s|\sto\s)\s*/);
  return from && to && !rest.length ? { from, to } : null;
}

function fromRelative(text: string): RangeText | null {
  const { kind } = parseBound(text) ?? {};
  return kind === 'relative' && text !== 'now' ? { from: text, to: 'now' } : null;
}

/** What Grafana reads again. */
export const writePasted = ({ from, to }: RangeText): string => JSON.stringify({ from, to });
