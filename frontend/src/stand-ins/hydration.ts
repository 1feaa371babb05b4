// Stands in for Svelte's hydration in the browser: no server renders this dashboard, every page is mounted into an empty
// body. What is constant here falls out of the whole runtime, and of every component its walk over rendered nodes.

export const hydrating = false;
export const hydrate_node = null;

/* @__NO_SIDE_EFFECTS__ */
export function reset(): void {}
/* @__NO_SIDE_EFFECTS__ */
export function next(): void {}
/* @__NO_SIDE_EFFECTS__ */
export function set_hydrating(): void {}
/* @__NO_SIDE_EFFECTS__ */
export function hydrate_template(): void {}

/** Called by code that runs while `hydrating` alone. */
function missing(): never {
  throw new Error('No server renders this dashboard: a page that is rendered needs hydration again.');
}
export const set_hydrate_node = missing;
export const hydrate_next = missing;
export const skip_nodes = missing;
export const read_hydration_instruction = missing;
