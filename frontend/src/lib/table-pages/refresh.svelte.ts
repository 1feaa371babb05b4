// Reloads a table's page when the stream reports a change of the table. Call while a page initialises.
import type { TableRef } from '#lib/api/names.ts';
import { live } from '#lib/live/live.svelte.ts';
import { throttle } from '#lib/live/throttle.ts';

const GAP_MS = 10_000;

export function refreshOnTableChange(table: () => TableRef, ask: () => void): void {
  $effect(() => {
    const ref = table();
    const refresh = throttle(ask, GAP_MS);
    const heard = [
      live.on('table', (event) => {
        if (
          event.catalog === ref.catalog &&
          event.table_namespace === ref.namespace &&
          event.table === ref.table
        )
          refresh();
      }),
      live.onBehind(refresh),
    ];
    return () => {
      for (const end of heard) end();
      refresh.cancel();
    };
  });
}
