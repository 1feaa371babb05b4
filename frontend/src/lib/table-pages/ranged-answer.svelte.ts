// An answer about one table that follows the range in the URL and changes of the table. Call while a page initialises.
import { page } from '$app/state';
import type { TableRef } from '#lib/api/names.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { refreshOnTableChange } from './refresh.svelte.ts';

/** What a page reads from its URL. */
interface View<Q> {
  readonly question: Q;
  readonly range: { readonly relative: boolean };
  read(params: URLSearchParams): void;
  /** Moves a relative range to the present. */
  tick(): void;
}

/** The answer, and `ask` to request it again. */
export function rangedAnswer<T, Q>(
  table: () => TableRef,
  view: View<Q>,
  load: (table: TableRef, question: Q, signal: AbortSignal) => Promise<T>,
): { readonly answer: Resource<T>; readonly ask: () => void } {
  const answer = new Resource<T>();
  /** The request as text: it is not sent again because its parts are new objects. */
  const question = $derived(JSON.stringify(view.question));
  $effect.pre(() => view.read(new URLSearchParams(page.url.search)));
  $effect(() => {
    void table();
    return () => answer.clear();
  });
  function ask() {
    const about = table();
    const asked = JSON.parse(question) as Q;
    void answer.ask((signal) => load(about, asked, signal));
  }
  $effect(ask);
  refreshOnTableChange(table, () => {
    if (view.range.relative) view.tick();
    ask();
  });
  return { answer, ask };
}
