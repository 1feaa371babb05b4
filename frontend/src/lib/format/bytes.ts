// Sizes in bytes as text. Decimal units (kB, MB, GB), as object stores and the prices of storage count.
import { MINUS, NOT_READ } from './count.ts';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'] as const;

/** `116 MB`, `0.9 MB`, `512 B`: three figures at most; `not read` for what is not known. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return NOT_READ;
  let size = Math.abs(value);
  let unit = 0;
  // from 900 kB on megabytes read better: 0.9 MB beside 128 MB
  while (size >= 900 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || size >= 10 ? 0 : 1;
  return `${value < 0 ? MINUS : ''}${size.toFixed(digits)} ${UNITS[unit]}`;
}
