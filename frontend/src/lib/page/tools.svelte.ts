// What the open page puts into the frame: its own controls (its range, its filters) in the tool bar, and its title.
import type { Snippet } from 'svelte';
import { Registry } from '#lib/state/Registry.svelte.ts';

/** Drawn at the right end of the tool bar. */
export const tools = new Registry<Snippet>();
/** Of a page that knows more than its address does. */
export const titles = new Registry<string>();

/** Call while a page initializes; the snippet leaves with the page. */
export function showTools(snippet: Snippet): void {
  tools.hold(() => snippet);
}
