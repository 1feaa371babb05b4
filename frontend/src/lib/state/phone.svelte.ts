// Whether the page is as narrow as a phone. The same width as in the styles.
import { MediaQuery } from 'svelte/reactivity';

export const phone = new MediaQuery('max-width: 767px');
