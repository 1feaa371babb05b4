// Money as text, of values and of bounds. Pure.
import { count, MINUS } from './count.ts';

/** What a value says that is not known. Never 0. */
export const NOT_KNOWN = 'not known';
const CENT = 0.005;

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
export function moneyBetween({ low, high }: { low: number; high: number }, currency: string): string {
  if (isTiny(high) || figure(low) === figure(high)) return money(high, currency);
  return `${isTiny(low) ? '0.00' : figure(low)} to ${figure(high)} ${currency}`;
}
