// Why the table's job changed, beside the lanes: when it is requested, and what the lanes show of it. Its parts are
// loaded on first use. For the set-up of a component.
import { untrack } from 'svelte';
import { getExplanation, postLabel } from '#lib/api/client.ts';
import type { ExplainView } from '#lib/explain/ExplainView.svelte.ts';
import type { Answer } from '#lib/api/lanes.ts';
import type { ExplanationOverlay } from '#lib/timeline/shapes/explanation-overlay.ts';
import type { TablePageContext } from './TimelineView.svelte.ts';

export const loadExplainParts = () => import('#lib/explain/parts.ts');

interface Lanes {
  answer(): Answer | undefined;
  /** Whether the panel is open, and the lanes are drawn. */
  shown(): boolean;
}

export class ExplainController {
  /** Undefined until its parts are loaded. */
  view = $state.raw<ExplainView>();
  /** What the job's lane carries of the answer. */
  explanation = $state.raw<ExplanationOverlay | null>(null);

  readonly #context: TablePageContext;
  #gone = false;

  /** What is explained: the selection, else what is shown. */
  readonly window = $derived.by(() => {
    const { cursor, range } = this.#context.view;
    const [from, to] = cursor.selection ?? [range.span.from, range.span.to];
    return { from, to };
  });

  constructor(context: TablePageContext, lanes: Lanes) {
    this.#context = context;
    $effect(() => () => (this.#gone = true));
    $effect(() => this.#updateOverlay(this.view?.page, lanes.answer()));
    $effect(() => {
      if (lanes.shown()) untrack(() => void this.explain(false));
    });
    $effect(() => {
      void context.view.job;
      if (untrack(() => this.view?.window)) untrack(() => void this.explain());
    });
    $effect(() => {
      const { base } = context.view;
      untrack(() => this.view?.window && this.view.compareWith(base));
    });
    $effect(() => {
      void context.ref;
      return () => this.view?.forget();
    });
  }

  /** `refresh`: also where something was explained already. */
  async explain(refresh = true): Promise<void> {
    const name = this.#context.ref;
    try {
      this.view ??= new (await loadExplainParts()).ExplainView({
        ask: (question, signal) => getExplanation(this.#context.ref, question, signal),
        say: (saying) => postLabel(this.#context.ref, saying),
      });
    } catch {
      return; // its place says that it did not load
    }
    if (this.#gone || name !== this.#context.ref || (!refresh && this.view.window)) return;
    this.view.baseline = this.#context.view.base;
    await this.view.explain(this.window, this.#context.view.job);
  }

  #updateOverlay(page: ExplainView['page'], drawn: Answer | undefined): void {
    if (!page || !drawn) {
      this.explanation = null;
      return;
    }
    void import('#lib/timeline/shapes/explanation-overlay.ts').then(
      ({ overlayOf }) => {
        if (!this.#gone && this.view?.page === page)
          this.explanation = overlayOf(page.job, page.explanation.changes, drawn);
      },
      () => undefined, // the panel beside says the same in words
    );
  }
}
