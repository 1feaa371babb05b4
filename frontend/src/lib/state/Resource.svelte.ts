// One question to the server and its newest answer. Old data stay while new ones are fetched; a late answer of an
// older question is dropped. Draws nothing.
import { untrack } from 'svelte';
import { firstQuestion } from './first-question.ts';
import { problemFrom, type ApiProblem } from '#lib/api/problem.ts';

/** Nothing is drawn for a wait shorter than this; then a skeleton. */
const PATIENCE_MS = 150;

export class Resource<T> {
  /** The newest answer, kept while the next is on its way and when that one fails. */
  data = $state.raw<T | undefined>();
  /** Why the newest question failed; undefined once an answer came. */
  problem = $state.raw<ApiProblem | undefined>();
  pending = $state(false);
  /** True when a first answer takes so long that a skeleton helps. */
  slow = $state(false);

  #running: AbortController | undefined;
  readonly #patienceMs: number;

  constructor(patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  /** Asks; an older question still under way is aborted. Resolves when answered, failed or overtaken. */
  async ask(question: (signal: AbortSignal) => Promise<T>): Promise<void> {
    this.#running?.abort();
    const mine = new AbortController();
    this.#running = mine;
    this.pending = true;
    // untracked: an effect that sends a request must not send it again because of the response
    const answered = untrack(() => this.data) === undefined ? firstQuestion() : undefined;
    const patience = setTimeout(() => (this.slow = this.data === undefined), this.#patienceMs);
    try {
      const data = await question(mine.signal);
      if (this.#running === mine) [this.data, this.problem] = [data, undefined];
    } catch (thrown) {
      if (this.#running === mine) this.problem = problemFrom(thrown);
    } finally {
      clearTimeout(patience);
      answered?.();
      if (this.#running === mine) [this.pending, this.slow] = [false, false];
    }
  }

  /** An answer that another question brought along. */
  take(data: T): void {
    this.stop();
    [this.data, this.problem] = [data, undefined];
  }

  /** Forgets the answer: what follows is about something else. */
  clear(): void {
    this.stop();
    [this.data, this.problem] = [undefined, undefined];
  }

  /** Nobody waits any more. */
  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
    [this.pending, this.slow] = [false, false];
  }
}
