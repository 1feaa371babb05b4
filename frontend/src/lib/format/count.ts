// Counts and signed changes as text: en-GB thousands, a real minus sign, `not read` for what is not known.

/** Shown for an unknown number. Never 0, never a dash. */
export const NOT_READ = 'not read';
export const MINUS = '\u2212';
const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

/** `51,202`; null and NaN are `not read`. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return NOT_READ;
  const size = Math.abs(Math.round(value));
  return (value < 0 && size > 0 ? MINUS : '') + whole.format(size);
}

/** `+50,000`, `−116`, `±0`: a change, its size printed by `print`. */
export function signed(change: number | null | undefined, print: (size: number) => string = count): string {
  if (change === null || change === undefined || Number.isNaN(change)) return NOT_READ;
  const size = print(Math.abs(change));
  if (size === print(0)) return `±${size}`;
  return (change < 0 ? MINUS : '+') + size;
}

/** `60k`, `1.2M`: for axes, where a rounded number is enough. */
export function compact(value: number): string {
  const size = Math.abs(value);
  const sign = value < 0 ? MINUS : '';
  if (size >= 1e9) return `${sign}${Number((size / 1e9).toFixed(1))}G`;
  if (size >= 1e6) return `${sign}${Number((size / 1e6).toFixed(1))}M`;
  if (size >= 1e3) return `${sign}${Number((size / 1e3).toFixed(1))}k`;
  return `${sign}${Number(size.toFixed(size < 10 ? 1 : 0))}`;
}

/** `304.96 M`: a count of which the first digits matter; below ten million it stays whole. */
export function brief(value: number | null | undefined): string {
  if (value === null || value === undefined || Math.abs(value) < 1e7) return count(value);
  const [size, unit] = Math.abs(value) >= 1e9 ? [1e9, 'bn'] : [1e6, 'M'];
  return `${value < 0 ? MINUS : ''}${(Math.abs(value) / size).toFixed(2)} ${unit}`;
}

/** `3.1×`: a ratio. */
export function ratio(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOT_READ;
  return `${value >= 10 ? whole.format(value) : value.toFixed(1)}×`;
}

/** `97.6 %` of a share between 0 and 1. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return NOT_READ;
  const hundred = share * 100;
  // 9.96 rounds to 10: it has the digits of what is printed
  const digits = Math.abs(hundred) < 9.95 && hundred % 1 !== 0 ? 1 : 0;
  return `${hundred < 0 ? MINUS : ''}${Math.abs(hundred).toFixed(digits)} %`;
}
