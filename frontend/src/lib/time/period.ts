// The period that a timeline is compared with: so many seconds earlier. `1d` in the URL.

const UNIT_S = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
type Unit = keyof typeof UNIT_S;
const DAY = UNIT_S.d;
/** Longest that may be written: two years. */
const LONGEST = 731 * DAY;

/** Seconds; null when the text is no period. */
export function readPeriod(text: string): number | null {
  const found = /^([1-9]\d{0,5})([smhdw])$/.exec(text);
  if (!found) return null;
  const seconds = Number(found[1]) * UNIT_S[found[2] as Unit];
  return seconds <= LONGEST ? seconds : null;
}

/** The shortest text that reads as so many seconds. */
export function writePeriod(seconds: number): string {
  const unit = (['d', 'h', 'm'] as const).find((each) => seconds % UNIT_S[each] === 0) ?? 's';
  return `${seconds / UNIT_S[unit]}${unit}`;
}

/** The same time of day of the nearest earlier day, week or month that does not overlap a window so wide. */
export const periodFor = (widthMs: number): number =>
  [1, 7, 28, 364].map((days) => days * DAY).find((seconds) => seconds * 1000 >= widthMs) ?? 728 * DAY;
