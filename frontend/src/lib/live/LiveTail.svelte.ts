// What a page does when its table changes: it reloads, not too often, and not under the pointer; then it counts
// what waits. New commits are said once, at most one sentence in ten seconds. Draws nothing, knows no stream.
import type { Schemas } from '#lib/api/client.ts';
import { signed } from '#lib/format/count.ts';
import { clockSeconds, zoneAt } from '#lib/format/instant.ts';
import { throttle } from './throttle.ts';

type CommitStreamEvent = Schemas['CommitStreamEvent'];

export interface Tail {
  /** Asks for everything in view again. */
  readonly refresh: () => void;
  /** A question is under way: another now would abort it, and on a busy table none would ever be answered. */
  readonly pending: () => boolean;
  /** The view must stay as it is: the reader points into it, or paused it. */
  readonly held: () => boolean;
  /** Whether an instant is in the range shown; for a commit without a time (null) this is unknown. */
  readonly shows: (at: number | null) => boolean;
  readonly say: (sentence: string) => void;
}

const REFRESH_MS = 2_000;
const SAY_MS = 10_000;
/** Ids that are remembered, so that a commit is counted once when the pipeline's row follows the watcher's. */
const REMEMBERED = 1_000;

export class LiveTail {
  /** New commits that the view does not show yet. */
  waiting = $state(0);

  readonly #tail: Tail;
  #due = false;
  /** The reader requested what waits: a pending response delays it, the pointer does not. */
  #wanted = false;
  #unsaid: CommitStreamEvent[] = [];
  readonly #seen = new Set<string>();
  readonly #ask: ReturnType<typeof throttle>;
  readonly #say: ReturnType<typeof throttle>;

  constructor(tail: Tail, clock?: Parameters<typeof throttle>[2]) {
    this.#tail = tail;
    this.#ask = throttle(() => this.#refresh(), REFRESH_MS, clock);
    this.#say = throttle(() => this.#speak(), SAY_MS, clock);
  }

  /** A commit of the table came, or its row changed. */
  commit(event: CommitStreamEvent): void {
    const known = this.#seen.has(event.snapshot_id);
    if (known || !this.#tail.shows(event.t)) return;
    if (this.#seen.size >= REMEMBERED) this.#seen.clear();
    this.#seen.add(event.snapshot_id);
    if (this.#tail.held()) this.waiting += 1;
    this.#unsaid.push(event);
    this.#say();
  }

  /** Anything known of the table changed. */
  moved(): void {
    if (this.#tail.held()) this.#due = true;
    else this.#ask();
  }

  /** The reader no longer holds the view, or requested what waits. */
  release(): void {
    if (!this.#due && this.waiting === 0) return;
    this.#wanted = true;
    this.#refresh();
  }

  /** Another table: nothing of this one matters any more. */
  forget(): void {
    this.#ask.cancel();
    this.#say.cancel();
    [this.waiting, this.#due, this.#wanted, this.#unsaid] = [0, false, false, []];
    this.#seen.clear();
  }

  #refresh(): void {
    if (this.#tail.held() && !this.#wanted) {
      this.#due = true; // the pointer came while this waited for its turn
      return;
    }
    if (this.#tail.pending()) return this.#ask();
    [this.waiting, this.#due, this.#wanted] = [0, false, false];
    this.#tail.refresh();
  }

  #speak(): void {
    const said = this.#unsaid;
    this.#unsaid = [];
    if (said.length > 0) this.#tail.say(sentence(said));
  }
}

function sentence(events: readonly CommitStreamEvent[]): string {
  const [first] = events;
  if (!first || events.length > 1) return `${events.length} new commits`;
  const at = first.t === null ? '' : ` at ${clockSeconds(first.t)} ${zoneAt(first.t)}`;
  const files = first.added_data_files === null ? '' : `, ${signed(first.added_data_files)} data files`;
  return `New commit: ${first.operation ?? 'not read'}${at}${files}`;
}
