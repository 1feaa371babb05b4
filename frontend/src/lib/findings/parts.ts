// What a table's page loads once its lanes are drawn, in one piece of the build.
export { default as TableFindings } from './TableFindings.svelte';
