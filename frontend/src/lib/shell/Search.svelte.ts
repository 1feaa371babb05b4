// A search as the finder and the palette have it: asks after a pause, and knows whether its answer is of the newest text.
import { search, type FoundEntry } from './found.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';

const TYPING_MS = 120;

export class Search {
  readonly found = new Resource<FoundEntry[]>();
  /** Whether the answer is still that of an earlier text. */
  stale = $state(false);

  #pause: ReturnType<typeof setTimeout> | undefined;
  #looks = 0;

  readonly empty = $derived(
    this.found.problem ? this.found.problem.detail : this.stale ? 'Searching…' : 'No matches.',
  );

  /** `then`: called when this text is answered and no newer one was typed. */
  look(text: string, then: () => void = () => {}): void {
    this.stop();
    const mine = ++this.#looks;
    this.stale = true;
    this.#pause = setTimeout(async () => {
      await this.found.ask((signal) => search(text, signal));
      if (mine !== this.#looks) return;
      this.stale = false;
      then();
    }, TYPING_MS);
  }

  clear(): void {
    this.stop();
    this.#looks += 1;
    this.stale = false;
    this.found.clear();
  }

  stop(): void {
    clearTimeout(this.#pause);
  }
}
