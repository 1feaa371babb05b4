// What chords do: pages, and the time range of the open page. Loaded with the first chord.
import { goto } from '$app/navigation';
import { tablePath, type TableRef } from '#lib/api/names.ts';
import { offers, type OfferedRange } from '#lib/state/offers.svelte.ts';
import { zone } from '#lib/preferences/zone.svelte.ts';
import { recentTables } from '#lib/preferences/recent.ts';
import { readPasted, writePasted } from '#lib/time/paste.ts';
import { absolute, type Range, type RangeText } from '#lib/time/range.ts';
import { announce } from '#lib/ui/announce.svelte.ts';
import type { Action } from './chords.ts';

const PAGES: Partial<Record<Action, string>> = {
  fleet: '/',
  alerts: '/alerts',
  findings: '/findings',
  forecasts: '/forecasts',
  commits: '/commits',
  maintenance: '/maintenance',
  status: '/status',
};

/** `table`: of the open page. */
export function act(action: Action, table: TableRef | undefined): void {
  const page = PAGES[action];
  if (page) return void goto(page);
  if (action === 'table') return toTable(table);
  const range = offers.range;
  if (!range) return announce('This page has no time range.');
  if (action === 'copyRange') return void copy(writePasted(range.text), 'Time range');
  if (action === 'pasteRange') return void paste(range);
  const next = rangeAfter(action, range.range);
  if (next) range.show(next);
}

function toTable(table: TableRef | undefined): void {
  const path = table ? tablePath(table) : recentTables()[0]?.path;
  if (path) void goto(path);
  else announce('No table opened yet.');
}

/** The range after a key: as wide, at another place, or around the same middle. Null: the key moves nothing. */
export function rangeAfter(action: Action, { from, to }: Range): RangeText | null {
  const half = (to - from) / 2;
  if (action === 'widen')
    return absolute(Math.max(0, from - half), Math.min(to + half, Math.max(to, Date.now())));
  if (action === 'earlier') return absolute(Math.max(0, from - half), to - half);
  if (action === 'later') return absolute(from + half, to + half);
  return action === 'freeze' ? absolute(from, to) : null;
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`);
  } catch {
    announce(`Clipboard access is blocked. ${what}: ${text}`);
  }
}

export async function paste(range: OfferedRange): Promise<void> {
  let text: string;
  try {
    text = await navigator.clipboard.readText();
  } catch {
    return announce('Clipboard access is blocked. Press Ctrl K and paste there.');
  }
  const found = readPasted(text, Date.now());
  if (found) range.show(found);
  else announce('No time range on the clipboard.');
}

/** This page with its range fixed: a link that is opened tomorrow must not show tomorrow. */
export function frozenLink(address: string, range: Range | undefined): string {
  const url = new URL(address);
  if (!range) return url.href;
  for (const name of ['time', 'time.window']) url.searchParams.delete(name);
  const { from, to } = absolute(range.from, range.to);
  url.searchParams.set('from', from);
  url.searchParams.set('to', to);
  url.searchParams.set('tz', zone.name);
  return url.href;
}
