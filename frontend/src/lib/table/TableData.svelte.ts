// What a table page asks the server, and its newest answers: each question goes out when what it asks about changes.
// For the set-up of a component.
import { untrack } from 'svelte';
import { getCommit, getTable, getTimeline, type Schemas } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import type { Answer } from '#lib/api/lanes.ts';
import type { Overview } from '#lib/timeline/overview/minimap.ts';
import type { AlertFocus } from './alert.ts';
import { askedLanes, inOrder } from './lanes.ts';
import type { TablePageContext } from './TimelineView.svelte.ts';

const CURSOR_MS = 150;
const LATE_MS = 1_000;
const UNHURRIED_MS = 1_000;
const NOT_FOUND = 404;

export class TableData {
  readonly table = new Resource<Schemas['TableDetail']>();
  readonly timeline = new Resource<Answer>();
  readonly commit = new Resource<Schemas['CommitDetail']>();
  readonly overview = new Resource<Overview>();
  /** The bar of the alert that the address names. */
  alert = $state.raw<AlertFocus['bar'] | null>(null);

  readonly #context: TablePageContext;
  /** The table whose lanes were asked together with itself. */
  #known: TableRef | undefined;

  readonly #lanes = $derived.by(() => askedLanes(this.#context.view.lanes));
  /** The lanes in the order that the reader chose. */
  readonly answer = $derived.by(
    () => this.timeline.data && inOrder(this.timeline.data, this.#context.view.lanes),
  );
  /** The commit that the table's state is about: of its worst open finding, else of its reason. */
  readonly noted = $derived.by(() => {
    const top = this.table.data?.findings.find(({ state }) => state === 'open');
    return (top ? top.cause?.snapshot_ids[0] : this.table.data?.reason.snapshot_id) ?? null;
  });
  readonly drawn = $derived(this.answer !== undefined);

  constructor(context: TablePageContext) {
    this.#context = context;
    const { view } = context;
    $effect(() => {
      void context.ref;
      return () => {
        this.#known = undefined; // what is on its way is no longer wanted, and the page may be gone
        for (const each of [this.table, this.timeline, this.commit, this.overview]) each.clear();
        view.forget();
      };
    });
    $effect(() => {
      void [context.ref, view.range.span, this.#lanes, view.job, view.cmp, view.ref];
      if (view.awaits) return;
      if (this.#known !== context.ref) return untrack(() => this.askBoth());
      if (!untrack(() => view.gliding)) return this.askTimeline();
      const timer = setTimeout(() => untrack(this.askTimeline), CURSOR_MS);
      return () => clearTimeout(timer);
    });
    $effect(this.askCommit);
    $effect(() => this.#findAlert(view.alert));
    // nobody waits for the overview: it comes when the lanes have long been drawn
    $effect(() => {
      const name = context.ref;
      if (!this.drawn) return;
      const ask = async (signal: AbortSignal) =>
        (await import('./overview.ts')).getOverview(name, Date.now(), signal);
      const timer = setTimeout(() => untrack(() => void this.overview.ask(ask)), UNHURRIED_MS);
      return () => clearTimeout(timer);
    });
  }

  readonly askTable = (): void => {
    const name = this.#context.ref;
    void this.table.ask((signal) => getTable(name, signal));
  };

  readonly askTimeline = (): void => void this.#askLanes(false);

  /** The lanes and the table itself, by one request. */
  readonly askBoth = (): void => void this.#askBoth();

  readonly askCommit = (): void => {
    const [name, id] = [this.#context.ref, this.#context.view.commit];
    if (id) void this.commit.ask((signal) => getCommit(name, id, signal));
  };

  /** The next question about the lanes asks about the table, too. */
  forgetTable(): void {
    this.#known = undefined;
  }

  /** With `detail` the answer tells the table itself too. */
  async #askLanes(detail: boolean): Promise<void> {
    const { ref: name, view } = this.#context;
    const [{ from, to, step }, lanes, { job, cmp, ref }] = [view.range.span, this.#lanes, view];
    const query = {
      ...{ from, to, step },
      ...(lanes && { lanes }),
      ...(job && { job }),
      ...(cmp && { [+cmp ? 'cmp' : 'cmp_table']: cmp }),
      ...(ref && { ref }),
      ...(detail && { detail }),
    };
    await this.timeline.ask((signal) => getTimeline(name, query, signal));
  }

  async #askBoth(): Promise<void> {
    const name = this.#context.ref;
    this.#known = name;
    // lanes wait for a source that is slow; what is known of the table does not
    const late = setTimeout(() => this.table.data || this.askTable(), LATE_MS);
    await this.#askLanes(true);
    clearTimeout(late);
    if (name !== this.#known) return;
    const detail = this.timeline.problem ? null : this.timeline.data?.detail;
    // also while the table is asked by itself: what is above the lanes must not come after them
    if (detail) this.table.take(detail);
    else if (!this.table.pending && this.timeline.problem?.status !== NOT_FOUND) this.askTable();
  }

  #findAlert(fingerprint: string | null): (() => void) | undefined {
    this.alert = null;
    if (!fingerprint) return undefined;
    const gone = new AbortController();
    const { view } = this.#context;
    import('./alert.ts')
      .then(({ findAlert }) => findAlert(fingerprint, gone.signal))
      .then(
        (found) => {
          this.alert = found.bar;
          view.place(found.window);
        },
        () => gone.signal.aborted || view.place(null),
      );
    return () => gone.abort();
  }
}
