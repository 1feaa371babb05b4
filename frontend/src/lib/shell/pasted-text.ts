// What a text pasted into the palette leads to: a commit, an address of ours, an alert's link, a table, a time range.
// Pure.
import { commitPath, tableLabel, tablePath, type TableRef } from '#lib/api/names.ts';
import { spanZoned } from '#lib/format/instant.ts';
import { readPasted } from '#lib/time/paste.ts';
import { absolute, parseInstant, resolveRange, type RangeText } from '#lib/time/range.ts';

export interface Entry {
  /** Unique among the entries of a list. */
  readonly id: string;
  readonly label: string;
  readonly note?: string;
  readonly keys?: string;
  /** Where it leads, or the range it shows, or what it does. */
  readonly href?: string;
  readonly show?: RangeText;
  readonly run?: () => void;
}

const ID = /^-?\d{1,19}$/;
/** As Prometheus and Alertmanager write them; one of digits alone is taken for an id or an instant too. */
const FINGERPRINT = /^[0-9a-f]{16}$/;
/** A number of so many digits may be an instant as well as an id. */
const INSTANT_DIGITS = [10, 13];
const AROUND_MS = 30 * 60_000;
const OURS = /^\/(t|commits|status|settings|alerts|a)(\/|$)/;

/** Entries for what is recognised, best first. `table`: of the open page. */
export function recognise(text: string, table: TableRef | undefined, now: number): Entry[] {
  const trimmed = text.trim();
  if (ID.test(trimmed)) return [...ofId(trimmed, table), ...ofInstant(trimmed), ...ofFingerprint(trimmed)];
  if (FINGERPRINT.test(trimmed)) return ofFingerprint(trimmed);
  const address = addressOf(trimmed);
  if (address) return [address];
  const range = readPasted(trimmed, now);
  const resolved = range && resolveRange(range, now);
  if (range && resolved) {
    const words = `Show ${spanZoned(resolved.from, resolved.to)}`;
    return [{ id: 'range', label: words, note: resolved.relative ? range.from : 'time range', show: range }];
  }
  if (parseInstant(trimmed) !== null) return ofInstant(trimmed);
  return ofName(trimmed);
}

const ofId = (id: string, table: TableRef | undefined): Entry[] =>
  table
    ? [{ id: 'commit', label: `Commit ${id}`, note: tableLabel(table), href: commitPath(table, id) }]
    : [];

const ofFingerprint = (mark: string): Entry[] =>
  FINGERPRINT.test(mark)
    ? [{ id: 'fingerprint', label: `Alert ${mark}`, note: 'fingerprint', href: `/alerts/${mark}` }]
    : [];

function ofInstant(text: string): Entry[] {
  if (ID.test(text) && !INSTANT_DIGITS.includes(text.length)) return [];
  const at = parseInstant(text);
  if (at === null) return [];
  const range = absolute(at - AROUND_MS, at + AROUND_MS);
  return [
    {
      id: 'around',
      label: `Show ${spanZoned(Number(range.from), Number(range.to))}`,
      note: 'around',
      show: range,
    },
  ];
}

/** An address of ours, whatever host it names: links are written with the one that their writer knew. */
function addressOf(text: string): Entry | null {
  const url =
    text.startsWith('/') && !text.startsWith('//')
      ? parsed(text)
      : /^https?:\/\//.test(text)
        ? parsed(text)
        : null;
  if (!url || !(OURS.test(url.pathname) || (url.pathname === '/' && url.search))) return null;
  if (url.pathname === '/a') return ofAlert(url);
  return {
    id: 'address',
    label: `Open ${readable(url.pathname)}`,
    note: 'address',
    href: url.pathname + url.search,
  };
}

const parsed = (text: string): URL | null =>
  URL.canParse(text, 'http://any') ? new URL(text, 'http://any') : null;

function readable(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The link that an alert carries: the page that finds out where it leads. */
const ofAlert = ({ search, searchParams }: URL): Entry => ({
  id: 'alert',
  label: `Alert ${searchParams.get('alertname') ?? ''}`.trim(),
  note: searchParams.get('table') ?? 'alert',
  href: `/alerts/resolve${search}`,
});

/** `lake.sales.orders` or `lake/sales/orders`. */
function ofName(text: string): Entry[] {
  const levels = text.includes('/') ? text.split('/') : text.split('.');
  if (levels.length < 3 || levels.some((level) => level === '' || /\s/.test(level))) return [];
  const [catalog = '', ...rest] = levels;
  const table = rest.pop() ?? '';
  const ref = { catalog, namespace: rest.join('.'), table };
  return [{ id: 'name', label: `Table ${tableLabel(ref)}`, note: catalog, href: tablePath(ref) }];
}

/** Entries whose words begin as those that were typed, in the order they stand. */
export function matchEntries(entries: readonly Entry[], text: string): Entry[] {
  const typed = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(({ label, note }) => {
    const words = `${label} ${note ?? ''}`.toLowerCase();
    return typed.every(
      (word) => words.startsWith(word) || words.includes(` ${word}`) || words.includes(`.${word}`),
    );
  });
}
