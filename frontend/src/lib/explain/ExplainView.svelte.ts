// One explanation on a page: the question, its answer, and what the reader says about it, with a way back. Asks through
// what it is given; draws nothing.
import type { ExplainQuestion, Schemas } from '#lib/api/client.ts';
import { problemFrom, type ApiProblem } from '#lib/api/problem.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { casesOf, namedIn, outcomeOf, type Hypothesis, type Label, type Page } from './case.ts';
import { isSame, questionOf, widen, type Baseline, type Window } from './question.ts';

type Saying = Schemas['LabelIn'];
interface Server {
  readonly ask: (question: ExplainQuestion, signal: AbortSignal) => Promise<Page>;
  readonly say: (saying: Saying) => Promise<Label>;
}

const SLOW_S = 3;

export class ExplainView {
  readonly answer = new Resource<Page>();
  /** The current or pending explanation; null: none was requested yet. */
  window = $state.raw<Window | null>(null);
  job = $state.raw<string | null>(null);
  baseline = $state.raw<Baseline>('before');
  /** Why the last word was not stored. */
  refused = $state.raw<ApiProblem | undefined>();
  /** Snapshot id that is being spoken of. */
  saying = $state.raw<string | null>(null);
  /** The commit last spoken of, and what was said of it before: what undo returns to. */
  said = $state.raw<{ snapshotId: string; before: Label['kind'] } | null>(null);
  /** Seconds that the answer has been waited for, from `SLOW_S` on. */
  waited = $state.raw(0);

  /** Words said since the answer came, newest of each commit; `withdrawn` among them. */
  #words = $state.raw<readonly Label[]>([]);
  #clock: ReturnType<typeof setInterval> | undefined;

  constructor(readonly server: Server) {}

  readonly page = $derived(this.answer.data);
  readonly outcome = $derived(this.page && outcomeOf(this.page));
  readonly labels: readonly Label[] = $derived.by(() => {
    const mine = new Set(this.#words.map(({ snapshot_id: id }) => id));
    const kept = (this.page?.labels ?? []).filter(({ snapshot_id: id }) => !mine.has(id));
    return [...kept, ...this.#words.filter(({ kind }) => kind !== 'withdrawn')];
  });
  readonly cases = $derived(this.page ? casesOf(this.page, this.labels) : []);
  /** The commit that the verdict names. */
  readonly suspect: Hypothesis | null = $derived(this.cases[0] ? namedIn(this.cases[0]) : null);

  /** Explains a window; the answer before stays until this one comes. */
  async explain(window: Window, job: string | null = this.job): Promise<void> {
    [this.window, this.job] = [window, job];
    const question = questionOf(window, job, this.baseline);
    clearInterval(this.#clock);
    const since = Date.now();
    this.waited = 0;
    const clock = (this.#clock = setInterval(() => {
      const now = Math.round((Date.now() - since) / 1000);
      if (now >= SLOW_S) this.waited = now;
    }, 1000));
    const before = this.answer.data;
    await this.answer.ask((signal) => this.server.ask(question, signal));
    clearInterval(clock);
    if (this.#clock === clock) this.waited = 0;
    if (this.answer.data !== before) [this.#words, this.said, this.refused] = [[], null, undefined];
  }

  refresh(): void {
    if (this.window) void this.explain(this.window);
  }

  compareWith(baseline: Baseline): void {
    if (String(baseline) === String(this.baseline)) return;
    this.baseline = baseline;
    this.refresh();
  }

  widen(): void {
    if (this.window) void this.explain(widen(this.window));
  }

  cancel(): void {
    clearInterval(this.#clock);
    this.answer.stop();
    this.waited = 0;
  }

  /** Another table: what is known means nothing there. */
  forget(): void {
    this.cancel();
    this.answer.clear();
    [this.window, this.said, this.refused] = [null, null, undefined];
    this.#words = [];
  }

  /** Whether what is shown now is another question than the one that was answered. */
  isStale(shown: Window): boolean {
    return this.window !== null && !isSame(this.window, shown);
  }

  /** Takes the last word back: what was said before counts again. */
  async undo(): Promise<boolean> {
    const { said } = this;
    if (!said || !(await this.say(said.before, said.snapshotId))) return false;
    this.said = null;
    return true;
  }

  /** Stores a word on a commit; it counts at once when it is stored. True when it was. */
  async say(kind: Label['kind'], snapshotId: string): Promise<boolean> {
    const page = this.page;
    if (!page || this.saying !== null) return false;
    [this.saying, this.refused] = [snapshotId, undefined];
    const before = this.labels.find(({ snapshot_id: id }) => id === snapshotId)?.kind ?? 'withdrawn';
    try {
      const label = await this.server.say({
        kind,
        snapshot_id: snapshotId,
        from: page.from,
        to: page.to,
        job_name: page.job,
        comment: null,
      });
      if (this.page !== page) return true;
      this.#words = [...this.#words.filter(({ snapshot_id: id }) => id !== snapshotId), label];
      this.said = { snapshotId, before };
      return true;
    } catch (thrown) {
      this.refused = problemFrom(thrown);
      return false;
    } finally {
      this.saying = null;
    }
  }
}
