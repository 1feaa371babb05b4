// Why the table's job changed, beside the lanes: when it is requested, and what the lanes show of it. Its parts are
// loaded on first use. For the set-up of a component.
import { untrack } from 'svelte';
import { getExplanation, postLabel } from '#lib/api/client.ts';
import type { ExplainView } from '#lib/explain/ExplainView.svelte.ts';
import type { Answer } from '#lib/api/lanes.ts';
import type { Told } from '#lib/timeline/shapes/explanation-overlay.ts';
import type { Looked } from './TimelineView.svelte.ts';

export const parts = () => import('#lib/explain/parts.ts');

interface Lanes {
  answer(): Answer | undefined;
  /** Whether the panel is open, and the lanes are drawn. */
  shown(): boolean;
}

export class Explaining {
  /** Undefined until its parts are loaded. */
  view = $state.raw<ExplainView>();
  /** What the job's lane carries of the answer. */
  told = $state.raw<Told | null>(null);

  readonly #looked: Looked;

  /** What is explained: the selection, else what is shown. */
  readonly window = $derived.by(() => {
    const { cursor, range } = this.#looked.view;
    const [from, to] = cursor.selection ?? [range.span.from, range.span.to];
    return { from, to };
  });

  constructor(looked: Looked, lanes: Lanes) {
    this.#looked = looked;
    $effect(() => this.#tell(this.view?.page, lanes.answer()));
    $effect(() => {
      if (lanes.shown()) untrack(() => void this.explain(false));
    });
    $effect(() => {
      void looked.view.job;
      if (untrack(() => this.view?.window)) untrack(() => void this.explain());
    });
    $effect(() => {
      const { base } = looked.view;
      untrack(() => this.view?.window && this.view.compareWith(base));
    });
    $effect(() => {
      void looked.ref;
      return () => this.view?.forget();
    });
  }

  /** `again`: also where something was explained already. */
  async explain(again = true): Promise<void> {
    const name = this.#looked.ref;
    try {
      this.view ??= new (await parts()).ExplainView({
        ask: (question, signal) => getExplanation(this.#looked.ref, question, signal),
        say: (saying) => postLabel(this.#looked.ref, saying),
      });
    } catch {
      return; // its place says that it did not load
    }
    if (name !== this.#looked.ref || (!again && this.view.window)) return;
    this.view.baseline = this.#looked.view.base;
    await this.view.explain(this.window, this.#looked.view.job);
  }

  #tell(page: ExplainView['page'], drawn: Answer | undefined): void {
    if (!page || !drawn) {
      this.told = null;
      return;
    }
    void import('#lib/timeline/shapes/explanation-overlay.ts').then(
      ({ toldOf }) => {
        if (this.view?.page === page) this.told = toldOf(page.job, page.explanation.changes, drawn);
      },
      () => undefined, // the panel beside says the same in words
    );
  }
}
