// What a table's page loads once its lanes are drawn: the section and its state, in one piece of the build.
export { default as TableEffects } from './TableEffects.svelte';
export { TableEffectsView } from './TableEffectsView.svelte.ts';
