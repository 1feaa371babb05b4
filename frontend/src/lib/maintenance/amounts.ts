// Time and bounds of plans as text. Pure.
import { count } from '#lib/format/count.ts';
import { NOT_KNOWN } from '#lib/format/money.ts';
import type { Estimate } from './words.ts';

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

/** Figures and unit of a length of time, the unit by its size: `['4', 'min']`. */
function lengthOf(seconds: number): [figures: string, unit: string] {
  if (seconds < 1) return ['1', 's'];
  if (seconds < 90) return [String(Math.round(seconds)), 's'];
  if (seconds < 90 * MINUTE) return [String(Math.round(seconds / MINUTE)), 'min'];
  if (seconds < 36 * HOUR) return [short(seconds / HOUR), 'h'];
  return [short(seconds / DAY), 'days'];
}
const short = (value: number) => String(value < 10 ? Number(value.toFixed(1)) : Math.round(value));

/** `4 to 9 min`, `40 s to 3 min`, `about 4 min` where the bounds read alike. */
export function timeBetween({ low, high }: Pick<Estimate, 'low' | 'high'>): string {
  const [[from, fromUnit], [to, toUnit]] = [lengthOf(low), lengthOf(high)];
  if (from === to && fromUnit === toUnit) return `about ${to} ${toUnit}`;
  return fromUnit === toUnit ? `${from} to ${to} ${toUnit}` : `${from} ${fromUnit} to ${to} ${toUnit}`;
}

/** `within an hour`, `in 5 hours`, `in 2 days`, `in 4 months`: after which a plan has paid. */
export function paybackText(days: number | null | undefined): string {
  if (days === null || days === undefined || !Number.isFinite(days)) return NOT_KNOWN;
  const hours = days * 24;
  if (hours < 1) return 'within an hour';
  const [value, unit] = hours < 36 ? [hours, 'hour'] : days < 90 ? [days, 'day'] : [days / 30, 'month'];
  const whole = Math.round(value);
  return `in ${count(whole)} ${unit}${whole === 1 ? '' : 's'}`;
}
