// The ends of a range as users and URLs write them: epoch ms, ISO 8601, `now-6h`, `now/d`, `now-1d/d`. A time without a
// zone is UTC, unless the caller names another; days and weeks of `now/d` are UTC's.
import { instantOf, UTC } from './zone.ts';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
type Unit = keyof typeof UNIT_MS;
type Rounding = 'm' | 'h' | 'd' | 'w';

/** One end of a range: an instant, or an offset from now, then rounded down to a unit (up, at the range's end). */
export type Bound =
  | { readonly kind: 'absolute'; readonly at: number }
  | { readonly kind: 'relative'; readonly offsetMs: number; readonly roundTo: Rounding | null };

const RELATIVE = /^now(?:([+-])(\d{1,6})([smhdw]))?(?:\/([mhdw]))?$/;
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
/** Year 3000; nothing later is meant. */
const LATEST = 32_503_680_000_000;
/** A Monday: weeks start there. */
const MONDAY = 4 * 86_400_000;

/** Null when the text is none of the forms. Ten digits are seconds, more are milliseconds. */
export function parseBound(text: string, zone = UTC): Bound | null {
  const trimmed = text.trim();
  const relative = RELATIVE.exec(trimmed);
  if (relative) {
    const [, sign, amount, unit, rounding] = relative;
    const size = amount ? Number(amount) * UNIT_MS[unit as Unit] : 0;
    return {
      kind: 'relative',
      offsetMs: sign === '-' ? -size : size,
      roundTo: (rounding as Rounding | undefined) ?? null,
    };
  }
  const at = parseInstant(trimmed, zone);
  return at === null ? null : { kind: 'absolute', at };
}

/** Epoch ms (or seconds, when ten digits at most) or ISO 8601; a time without a zone is in `zone`. Null when neither. */
export function parseInstant(text: string, zone = UTC): number | null {
  let at: number;
  if (/^\d{1,14}$/.test(text)) at = text.length <= 10 ? Number(text) * 1000 : Number(text);
  else {
    const found = ISO.exec(text);
    if (!found) return null;
    const own = found[1] !== undefined;
    at = Date.parse((own || text.length === 10 ? text : `${text}Z`).replace(' ', 'T'));
    if (!own && Number.isFinite(at)) at = instantOf(zone, at);
  }
  return Number.isFinite(at) && at >= 0 && at <= LATEST ? at : null;
}

/** Epoch ms of a bound. The end of a range rounds up: `now/d` to `now/d` is today, whole. */
function resolveBound(bound: Bound, now: number, end: boolean): number {
  if (bound.kind === 'absolute') return bound.at;
  const at = now + bound.offsetMs;
  if (!bound.roundTo) return at;
  const unit = UNIT_MS[bound.roundTo];
  const shift = bound.roundTo === 'w' ? MONDAY : 0;
  const periods = (at - shift) / unit;
  return (end ? Math.floor(periods) + 1 : Math.floor(periods)) * unit + shift;
}

/** The two ends as text, as the URL carries them. */
export interface RangeText {
  readonly from: string;
  readonly to: string;
}

/** A range that can be drawn: `from` before `to`, epoch ms. `relative`: it moves with the clock. */
export interface Range {
  readonly from: number;
  readonly to: number;
  readonly relative: boolean;
}

/** Null when an end cannot be read or the range is empty. */
export function resolveRange(text: RangeText, now: number): Range | null {
  const [start, end] = [parseBound(text.from), parseBound(text.to)];
  if (!start || !end) return null;
  const [from, to] = [resolveBound(start, now, false), resolveBound(end, now, true)];
  return to > from ? { from, to, relative: start.kind === 'relative' || end.kind === 'relative' } : null;
}

/** What a table page shows when its URL does not say. */
export const DEFAULT_RANGE: RangeText = { from: 'now-24h', to: 'now' };

/** A range of two instants as the URL carries it. */
export const absolute = (from: number, to: number): RangeText => ({
  from: String(Math.round(from)),
  to: String(Math.round(to)),
});
