// Money, time and bounds of plans as text. Pure.
import { count, MINUS } from '#lib/format/count.ts';
import type { Estimate } from './words.ts';

/** What a value says that is not known. Never 0. */
export const NOT_KNOWN = 'not known';
const CENT = 0.005;
const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

function figure(value: number): string {
  const size = Math.abs(value);
  const text = size === 0 ? '0' : size < 100 ? size.toFixed(2) : count(size);
  return value < 0 ? MINUS + text : text;
}
const isTiny = (value: number) => value !== 0 && Math.abs(value) < CENT;

/** `0.11 USD`, `under 0.01 USD`, `1,204 USD`. The currency is a label from the settings. */
export function money(value: number | null | undefined, currency: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOT_KNOWN;
  return isTiny(value) ? `under 0.01 ${currency}` : `${figure(value)} ${currency}`;
}

/** `0.08 to 0.19 USD`; one value where the bounds read alike. */
export function moneyBetween({ low, high }: Estimate, currency: string): string {
  if (isTiny(high) || figure(low) === figure(high)) return money(high, currency);
  return `${isTiny(low) ? '0.00' : figure(low)} to ${figure(high)} ${currency}`;
}

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
