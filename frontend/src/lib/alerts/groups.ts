// The list of alerts by table, and when each alert fired in the last week as bars. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { duration } from '#lib/format/duration.ts';
import { tableText, type Alert } from './words.ts';

type Span = Schemas['AlertWeek']['spans'][number];

export interface Group<Row extends Alert> {
  readonly key: string;
  readonly table: Alert['table'];
  readonly rows: readonly Row[];
}

/** Rows of one table together; tables in the order of their first row, so what fires stays on top. */
export function byTable<Row extends Alert>(rows: readonly Row[]): Group<Row>[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = tableText(row.table);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups].map(([key, found]) => ({ key, table: found[0]?.table ?? null, rows: found }));
}

/** The first row of each alert: it carries the strip of the week, later ones are its earlier episodes. */
export const firstOfEach = (rows: readonly Alert[]): ReadonlySet<Alert> =>
  new Set([...new Map([...rows].reverse().map((row) => [row.fingerprint, row])).values()]);

const WEEK_MS = 7 * 86_400_000;

/** Those that touch the seven days that end now. */
const ofWeek = (spans: readonly Span[], now: number) =>
  spans.filter(({ from, to }) => from < now && (to ?? now) > now - WEEK_MS);

export interface StripBar {
  /** Shares of the strip's width. */
  readonly left: number;
  readonly width: number;
}

/** Where an alert fired, as shares of the seven days that end now; short times stay visible. */
export function stripBars(spans: readonly Span[], now: number, least = 0.012): StripBar[] {
  const share = (at: number) => Math.min(1, Math.max(0, (at - (now - WEEK_MS)) / WEEK_MS));
  return ofWeek(spans, now).map(({ from, to }) => {
    const [left, right] = [share(from), share(to ?? now)];
    const width = Math.max(least, right - left);
    return { left: Math.min(left, 1 - width), width };
  });
}

/** `fired 3 times in 7 days, 4 h 20 m in total`. */
export function stripText(spans: readonly Span[], now: number): string {
  const within = ofWeek(spans, now);
  if (!within.length) return 'did not fire in 7 days';
  const total = within.reduce((sum, { from, to }) => sum + (to ?? now) - Math.max(from, now - WEEK_MS), 0);
  const times = within.length === 1 ? 'once' : `${within.length} times`;
  return `fired ${times} in 7 days, ${duration(Math.max(60, Math.round(total / 60_000) * 60))} in total`;
}
