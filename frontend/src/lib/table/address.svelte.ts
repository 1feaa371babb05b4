// The address and what the page shows, kept the same: each follows the other. For the set-up of a component.
import { untrack } from 'svelte';
import { goto } from '$app/navigation';
import { page } from '$app/state';
import { historyMove, namesRange, readUrl, writeUrl } from '#lib/time/url.ts';
import type { TimelineView } from './TimelineView.svelte.ts';

const CURSOR_MS = 150;
const SETTLE_MS = 250;

export function keepInAddress(view: TimelineView): void {
  let own: string | undefined;
  $effect.pre(() => {
    const { search } = page.url;
    untrack(() => {
      if (search === own) return;
      own = search;
      view.read(new URLSearchParams(search));
    });
  });
  $effect(() => {
    const next = view.url;
    const query = untrack(() => new URLSearchParams(page.url.search));
    const before = readUrl(query, view.range.now).state;
    const move = historyMove(before, next);
    if (move === 'none') return;
    const settles = untrack(() => view.gliding) || JSON.stringify(before.sel) !== JSON.stringify(next.sel);
    // the window of an alert is where its address leads: going back must not lead here again
    const found = untrack(() => view.alert) !== null && !namesRange(query);
    const wait = move === 'replace' ? CURSOR_MS : settles ? SETTLE_MS : 0;
    const timer = setTimeout(() => {
      own = writeUrl(next, query);
      void goto(page.url.pathname + own, { replace: found || move === 'replace', reset: false });
    }, wait);
    return () => clearTimeout(timer);
  });
}
