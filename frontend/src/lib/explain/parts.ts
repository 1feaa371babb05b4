// What a page loads when it explains: the panel and its state, in one piece of the build.
export { default as ExplainPanel } from './ExplainPanel.svelte';
export { ExplainView } from './ExplainView.svelte.ts';
