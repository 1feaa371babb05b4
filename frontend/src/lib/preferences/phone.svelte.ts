// Whether the page is as narrow as a phone. The same width as in the styles. Not Svelte's MediaQuery: with it comes the
// whole of svelte/reactivity, half a kilobyte of the first load.

/** Undefined outside a browser: the build loads this module, too. */
const query = globalThis.matchMedia?.('(max-width: 767px)');
let narrow = $state(query?.matches ?? false);
query?.addEventListener('change', () => (narrow = query.matches));

export const phone = {
  get current(): boolean {
    return narrow;
  },
};
