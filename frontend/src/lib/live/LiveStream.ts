// The server's event stream (`GET /api/v1/stream`), open only while the page is visible. Knows no page.
// The browser reconnects by itself, with the id of the last event, after a first break. When that does not help, or the
// stream is refused, this waits with exponential back-off and jitter, so that a restarting server is not overrun.
import type { Schemas } from '#lib/api/client.ts';

export interface LiveEvents {
  commit: Schemas['CommitStreamEvent'];
  alert: Schemas['AlertStreamEvent'];
  finding: Schemas['FindingStreamEvent'];
  note: Schemas['NoteStreamEvent'];
  plan: Schemas['PlanStreamEvent'];
  table: Schemas['TableStreamEvent'];
  sources: Schemas['SourcesStreamEvent'];
}
type Kind = keyof LiveEvents;

/** `off`: not visible; `lost`: it was open and will be again; `refused`: it could not be opened. Then pages poll. */
export type LiveState = 'off' | 'connecting' | 'open' | 'lost' | 'refused';

/** What an `EventSource` is, as far as it is needed. */
export interface Source {
  readonly readyState: number;
  close(): void;
  addEventListener(kind: string, heard: (event: { readonly data?: unknown }) => void): void;
}

export interface Surroundings {
  readonly open: () => Source;
  /** Calls back after so many milliseconds; returns what cancels it. */
  readonly after: (ms: number, then: () => void) => () => void;
  /** Between 0 and 1. */
  readonly chance: () => number;
}

const CLOSED = 2;
/** A page that is hidden for longer lets its connection go: a browser has six for a server over HTTP/1.1, of all tabs. */
export const HIDDEN_MS = 30_000;
/** First and longest wait before it is opened again; each is drawn between half of it and the whole. */
export const FIRST_WAIT_MS = 4_000;
export const LONGEST_WAIT_MS = 300_000;

export class LiveStream {
  readonly #around: Surroundings;
  readonly #onstate: (state: LiveState) => void;
  readonly #heard = new Map<string, Set<(data: never) => void>>();
  readonly #behind = new Set<() => void>();
  #source: Source | undefined;
  #cancel: (() => void) | undefined;
  #failures = 0;
  #visible = false;
  /** True once something may have been missed: then the next opening says so. */
  #missed = false;
  #state: LiveState = 'off';

  constructor(around: Surroundings, onstate: (state: LiveState) => void = () => {}) {
    [this.#around, this.#onstate] = [around, onstate];
  }

  get state(): LiveState {
    return this.#state;
  }

  /** Hears events of a kind; the returned function ends it. */
  on<K extends Kind>(kind: K, heard: (data: LiveEvents[K]) => void): () => void {
    const all = this.#heard.get(kind) ?? new Set();
    this.#heard.set(kind, all.add(heard));
    return () => void all.delete(heard);
  }

  /** Called when events may have been missed: reload everything in view. */
  onBehind(heard: () => void): () => void {
    this.#behind.add(heard);
    return () => void this.#behind.delete(heard);
  }

  /** Whether the page is visible. The first `true` opens the stream. */
  look(visible: boolean): void {
    this.#visible = visible;
    if (visible) {
      if (this.#source) this.#wait(undefined);
      else if (this.#state === 'off') this.#open();
      // one that waits for its turn goes on waiting: looking away and back must not hurry it
    } else if (this.#source) this.#wait(HIDDEN_MS, () => this.stop());
  }

  stop(): void {
    this.#wait(undefined);
    this.#source?.close();
    this.#missed ||= this.#source !== undefined;
    this.#source = undefined;
    this.#failures = 0;
    this.#move('off');
  }

  #open(): void {
    this.#move(this.#failures ? this.#state : 'connecting');
    const source = this.#around.open();
    this.#source = source;
    source.addEventListener('open', () => this.#opened(source));
    source.addEventListener('error', () => this.#broke(source));
    for (const kind of ['commit', 'alert', 'finding', 'note', 'table', 'sources']) {
      source.addEventListener(kind, ({ data }) => this.#tell(source, kind, data));
    }
    source.addEventListener('reset', () => {
      if (source === this.#source) this.#catchUp();
    });
  }

  #opened(source: Source): void {
    if (source !== this.#source) return;
    this.#failures = 0;
    this.#move('open');
    if (this.#missed) this.#catchUp();
  }

  #catchUp(): void {
    this.#missed = false;
    for (const heard of this.#behind) heard();
  }

  #broke(source: Source): void {
    if (source !== this.#source) return;
    const refused = source.readyState === CLOSED;
    this.#failures += 1;
    this.#move(refused && this.#state !== 'open' && this.#state !== 'lost' ? 'refused' : 'lost');
    if (!refused && this.#failures === 1) return; // the browser comes back by itself, and misses nothing
    source.close();
    this.#source = undefined;
    this.#missed = true;
    if (!this.#visible) return this.stop();
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#failures - 1));
    this.#wait(wait * (0.5 + this.#around.chance() / 2), () => (this.#visible ? this.#open() : this.stop()));
  }

  #tell(source: Source, kind: string, text: unknown): void {
    if (source !== this.#source || typeof text !== 'string') return;
    let data: never;
    try {
      data = JSON.parse(text) as never;
    } catch {
      return this.#catchUp(); // a proxy cut it: what it said is in the pages
    }
    for (const heard of this.#heard.get(kind) ?? []) heard(data);
  }

  #wait(ms: number | undefined, then: () => void = () => {}): void {
    this.#cancel?.();
    this.#cancel = ms === undefined ? undefined : this.#around.after(ms, then);
  }

  #move(state: LiveState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#onstate(state);
  }
}
