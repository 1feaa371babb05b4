// What the palette offers beside tables: where one was, pages, ranges, and what the open page and the shell can do.
import { preferences } from '#lib/preferences/preferences.svelte.ts';
import { offers } from '#lib/state/offers.svelte.ts';
import { tablePath } from '#lib/api/names.ts';
import { recentTables } from '#lib/preferences/recent.ts';
import { announce } from '#lib/ui/announce.svelte.ts';
import { act, copy, frozenLink } from './actions.ts';
import type { Entry } from './pasted-text.ts';
import type { Place } from './place.ts';
import { theme, type Theme } from '#lib/preferences/theme.svelte.ts';

export interface Group {
  readonly heading: string;
  readonly entries: readonly Entry[];
}

const RANGES = [
  ['1 hour', 'now-1h'],
  ['3 hours', 'now-3h'],
  ['6 hours', 'now-6h'],
  ['24 hours', 'now-24h'],
  ['7 days', 'now-7d'],
  ['30 days', 'now-30d'],
] as const;
const PAGES = [
  ['Fleet', '/', 'G F'],
  ['Findings', '/findings', 'G I'],
  ['At risk', '/forecasts', 'G R'],
  ['Alerts', '/alerts', 'G A'],
  ['Commits', '/commits', 'G C'],
  ['Maintenance', '/maintenance', 'G M'],
  ['Effects of maintenance', '/maintenance/ledger', ''],
  ['Status', '/status', 'G S'],
  ['Settings', '/settings', ''],
] as const;

const entry = (label: string, run: () => void, keys = ''): Entry => ({ id: label, label, keys, run });

export function recent(place: Place): Group {
  const here = place.table && place.tabs[0]?.href;
  const others = recentTables().filter(({ path }) => path !== here);
  return { heading: 'Recent', entries: others.map(({ path, label }) => ({ id: path, label, href: path })) };
}

export function pages(place: Place): Group {
  const own = place.table
    ? [
        ...place.tabs.map(({ text, href }) => [`This table: ${text}`, href, ''] as const),
        ['This table: Forecast', `${tablePath(place.table)}/forecast`, ''] as const,
      ]
    : [];
  const entries = [...own, ...PAGES].map(([label, href, keys]) => ({ id: href, label, href, keys }));
  return { heading: 'Pages', entries };
}

/** `help` shows the list of keys. */
export function commands(place: Place, help: () => void): Group {
  const range = offers.range;
  const ranges: Entry[] = range
    ? [
        ...RANGES.map(([label, from]) => ({ id: from, label: `Last ${label}`, show: { from, to: 'now' } })),
        entry('Back half a window', () => act('earlier', place.table), 'T ←'),
        entry('Forward half a window', () => act('later', place.table), 'T →'),
        entry('Double the range', () => act('widen', place.table), 'T Z'),
        entry('Fix the range', () => act('freeze', place.table), 'T A'),
        entry('Copy the range', () => act('copyRange', place.table), 'T C'),
        entry('Paste a range', () => act('pasteRange', place.table), 'T V'),
      ]
    : [];
  const own = offers.commands.map(({ label, keys, run }) => entry(label, run, keys));
  return {
    heading: 'Commands',
    entries: [...own, link(), ...ranges, ...looks(), entry('Keyboard shortcuts', help, '?')],
  };
}

const link = (): Entry =>
  entry('Copy link', () => void copy(frozenLink(location.href, offers.range?.range), 'Link'));

function looks(): Entry[] {
  const { shortcuts, density } = preferences.now;
  const choose = (name: Theme) =>
    entry(`Theme: ${name}`, () => {
      theme.choose(name);
      announce(`Theme: ${name}`);
    });
  const other = density === 'compact' ? 'comfortable' : 'compact';
  return [
    ...(['light', 'dark', 'system'] as const).filter((name) => name !== theme.chosen).map(choose),
    entry(`Density: ${other}`, () => preferences.choose({ density: other })),
    entry(shortcuts ? 'Disable single-letter shortcuts' : 'Enable single-letter shortcuts', () =>
      preferences.choose({ shortcuts: !shortcuts }),
    ),
  ];
}
