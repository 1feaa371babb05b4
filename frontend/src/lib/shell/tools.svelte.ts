// A page's own controls (its range, its filters) shown in the tool bar of the shell while the page is open.
import type { Snippet } from 'svelte';

let shown = $state.raw<Snippet | undefined>();

/** What the tool bar draws at its right end. */
export const tools = {
  get snippet(): Snippet | undefined {
    return shown;
  },
};

/** Call while a page initialises; the snippet leaves with the page. */
export function showTools(snippet: Snippet): void {
  $effect.pre(() => {
    shown = snippet;
    return () => {
      if (shown === snippet) shown = undefined;
    };
  });
}
