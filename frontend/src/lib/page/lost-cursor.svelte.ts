// A cursor that the server does not know: of another server, or cut off where a link was copied. The list starts
// over, and the page says that its address is invalid. Not beside `Resource`: the chunk of
// lib/state would take the router in, and an address without a page would be loaded again and again.
import { untrack } from 'svelte';
import { goto } from '$app/navigation';
import type { Resource } from '#lib/state/Resource.svelte.ts';

export class LostCursor {
  #lost = $state(false);
  /** What the page says of its address. */
  readonly unread = $derived(this.#lost ? ['cursor'] : []);

  /** `cursor`: of the address; `first`: where the list begins. Made while its component is. A parameter that somebody
   * changed beside the cursor is refused by its own name: that list has another beginning too. */
  constructor(list: Resource<unknown>, cursor: () => string | null, first: () => string) {
    $effect(() => {
      if (list.problem?.status !== 400 || !untrack(cursor)) return;
      this.#lost = true;
      void goto(untrack(first), { replace: true, reset: false });
    });
  }
}
