// What the open page puts into the frame: its own controls (its range, its filters) in the tool bar, and its title.
import type { Snippet } from 'svelte';
import { Registry } from '#lib/state/Registry.svelte.ts';

/** Drawn at the right end of the tool bar. */
export const tools = new Registry<Snippet>();
/** Of a page that knows more than its address does. */
export const titles = new Registry<string>();
/** True: the page's table does not exist, and neither do its other pages. */
export const absent = new Registry<true>();
/** How many there are behind a tab, by the tab's text, as far as the page knows. */
export const counts = new Registry<Readonly<Record<string, number | null>>>();

/** Call while a page initializes; the snippet leaves with the page. */
export function showTools(snippet: Snippet): void {
  tools.hold(() => snippet);
}
