// The ledger on a table's page: loaded after the lanes are drawn, which users wait for first. For the set-up of
// a component.
import { untrack } from 'svelte';
import type { TableEffectsView } from '#lib/effects/TableEffectsView.svelte.ts';
import type { TablePageContext } from './TimelineView.svelte.ts';

const UNHURRIED_MS = 1_000;
/** An effect is measured after 8, 16 and 48 runs: nothing changes within seconds. */
const REFRESH_MS = 60_000;

const loadEffectParts = () => import('#lib/effects/parts.ts');

export class EffectsController {
  /** Undefined until it is loaded. */
  view = $state.raw<TableEffectsView>();
  readonly #context: TablePageContext;
  #last = 0;

  constructor(context: TablePageContext, { drawn }: { drawn: () => boolean }) {
    this.#context = context;
    $effect(() => {
      if (this.view || !drawn()) return;
      const left = new AbortController();
      const timer = setTimeout(() => void this.#load(left.signal), UNHURRIED_MS);
      return () => {
        clearTimeout(timer);
        left.abort();
      };
    });
    $effect(() => {
      const { view } = this;
      if (!view) return;
      const { ref } = context;
      untrack(() => view.askNewest(ref));
      return () => view.forget();
    });
    $effect(() => {
      const [{ ref }, { span }] = [context, context.view.range];
      untrack(() => this.view)?.askShown(ref, span);
    });
  }

  readonly retry = (): void => this.view?.askNewest(this.#context.ref);

  /** The table moved. */
  refresh(): void {
    const now = Date.now();
    if (!this.view || now - this.#last < REFRESH_MS) return;
    this.#last = now;
    this.view.refresh(this.#context.ref, this.#context.view.range.span);
  }

  /** The page may be left while the parts are on their way: nothing of it may be read then. */
  async #load(left: AbortSignal): Promise<void> {
    let parts;
    try {
      parts = await loadEffectParts();
    } catch {
      return; // its place says that it did not load
    }
    if (left.aborted) return;
    this.#last = Date.now();
    this.view = new parts.TableEffectsView();
    this.view.askShown(this.#context.ref, this.#context.view.range.span);
  }
}
