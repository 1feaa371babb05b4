// Live updates of a table: its commits are announced and shown, but not under a pointer or a pause. For the
// set-up of a component.
import { untrack } from 'svelte';
import { live } from '#lib/live/live.svelte.ts';
import { LiveTail } from '#lib/live/LiveTail.svelte.ts';
import { announce } from '#lib/ui/announce.svelte.ts';
import type { TablePageContext } from './TimelineView.svelte.ts';

const REST_MS = 20_000;
const LEAVE_MS = 2_000;

interface Page {
  /** Whether an answer is on its way. */
  pending(): boolean;
  refresh(): void;
}

export function followTable(context: TablePageContext, { pending, refresh }: Page): LiveTail {
  const span = $derived(context.view.range.span);
  const relative = $derived(context.view.range.range.relative);
  let pointing = $state(false);
  const held = $derived(pointing || (relative && !context.view.follows));
  const tail = new LiveTail({
    refresh,
    pending,
    held: () => held,
    shows: (at) => at === null || (at >= span.from && (relative || at < span.to)),
    say: (text) => announce(text, { quietly: true }),
  });
  $effect(() => {
    const { catalog, namespace, table } = context.ref;
    const isThis = (event: { catalog: string; table_namespace: string; table: string }) =>
      event.catalog === catalog && event.table_namespace === namespace && event.table === table;
    const heard = [
      live.on('commit', (event) => isThis(event) && tail.commit(event)),
      live.on('table', (event) => isThis(event) && tail.moved()),
      live.on('finding', (event) => isThis(event) && tail.moved()),
      live.onBehind(() => tail.moved()),
    ];
    return () => {
      for (const end of heard) end();
      tail.forget();
    };
  });
  $effect(() => {
    // a pointer that rests holds the view no longer; one that left may be on its way to what waits
    const over = context.view.cursor.hover !== null;
    if (over) pointing = true;
    const rest = setTimeout(() => (pointing = false), over ? REST_MS : LEAVE_MS);
    return () => clearTimeout(rest);
  });
  $effect(() => {
    if (!held) untrack(() => tail.release());
  });
  $effect(() => {
    if (!relative) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && !held && !pending()) refresh();
    }, live.pollMs);
    return () => clearInterval(timer);
  });
  return tail;
}
