// Bytes and money of the month to come, in words. Pure.
import { bytes } from '#lib/format/bytes.ts';
import { count, percent } from '#lib/format/count.ts';
import { money, moneyBetween } from '#lib/format/money.ts';
import { horizon } from './sentence.ts';
import type { BytesForecast } from './words.ts';

/** `1.2 TB to 1.6 TB`, one value where they read alike; null: not known. */
function bytesBetween(low: number | null, high: number | null): string | null {
  if (low === null || high === null) return null;
  const [from, to] = [bytes(low), bytes(high)];
  return from === to ? `about ${to}` : `${from} to ${to}`;
}

/** What the bytes will be, with a full stop; null: nothing is known. */
export function bytesSentence(size: BytesForecast): string | null {
  const between = bytesBetween(size.bytes_p10, size.bytes_p90);
  if (between === null) return null;
  const here = size.bytes_now === null ? '' : `${bytes(size.bytes_now)} now; `;
  return `${here}${between} in ${horizon(size.hours)} (8 of 10)${changeWords(size)}.`;
}

/** Growth is said as growth. */
function changeWords({ bytes_now: now, bytes_p50: middle }: BytesForecast): string {
  if (now === null || middle === null || now <= 0) return '';
  const change = middle / now - 1;
  if (Math.abs(change) < 0.005) return ', about as much as today';
  const size =
    change >= 0.95
      ? `${Number((middle / now).toFixed(1))} times the data`
      : `${percent(Number(Math.abs(change).toFixed(3)))} ${change < 0 ? 'less' : 'more'} data`;
  return `, at the median ${size}`;
}

/** What storing them costs a month; null: there is no price. */
export function costSentence(size: BytesForecast): string | null {
  const { cost_p10: low, cost_p90: high, currency } = size;
  if (low === null || high === null || currency === null) return null;
  const here = size.cost_now === null ? '' : `${money(size.cost_now, currency)} a month now; `;
  return `${here}${moneyBetween({ low, high }, currency)} a month then (8 of 10).`;
}

/** On how many tables it rests; null: on all. */
export function coverageSentence({ tables, tables_known: known }: BytesForecast): string | null {
  if (tables >= known) return null;
  return `${count(tables)} of ${count(known)} tables have a forecast of their bytes; the others are not in it.`;
}
