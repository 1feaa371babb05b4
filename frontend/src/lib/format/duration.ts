// Lengths of time as text, from seconds. Two units at most.
import { MINUS, NOT_READ } from './count.ts';

/** `0.4 s`, `52 s`, `2 m 30 s`, `2 h 30 m`, `3 d 4 h`; `not read` for what is not known. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return NOT_READ;
  const sign = seconds < 0 ? MINUS : '';
  const size = Math.abs(seconds);
  if (size < 10 && size % 1 !== 0) return `${sign}${Number(size.toFixed(1))} s`;
  const total = Math.round(size);
  if (total < 60) return `${sign}${total} s`;
  if (total < 3600) return sign + two(total, 60, 'm', 's');
  // seconds no longer matter: round to minutes, then to hours
  if (total < 86_400) return sign + two(Math.round(total / 60), 60, 'h', 'm');
  return sign + two(Math.round(total / 3600), 24, 'd', 'h');
}

function two(small: number, per: number, bigUnit: string, smallUnit: string): string {
  const rest = small % per;
  return `${Math.floor(small / per)} ${bigUnit}${rest ? ` ${rest} ${smallUnit}` : ''}`;
}

/** `160 s`, `1.4 s`: seconds with their unit, never turned into minutes: read-outs of a job's duration. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return NOT_READ;
  const size = Math.abs(value);
  return `${value < 0 ? MINUS : ''}${size < 10 ? Number(size.toFixed(1)) : Math.round(size)} s`;
}
