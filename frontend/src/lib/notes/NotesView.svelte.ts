// The notes about one thing: the list, which follows what others write, and what is written here. Draws nothing.
import { untrack } from 'svelte';
import { listNotes, postNote, type NoteBody, type NotesQuestion, type Schemas } from '#lib/api/client.ts';
import { problemFrom, type ApiProblem } from '#lib/api/problem.ts';
import { follow } from '#lib/live/follow.ts';
import { live } from '#lib/live/live.svelte.ts';
import { throttle } from '#lib/live/throttle.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { author } from './author.svelte.ts';
import { newKey, type Note, type NoteTarget } from './words.ts';

const REFRESH_MS = 1_000;
const LIMIT = 500;

/** What is sent, without what each request adds. */
type Draft = Omit<NoteBody, 'key' | 'author'>;

/** Another user changed the note first. */
export interface NoteConflict {
  /** As it is now. */
  readonly theirs: Note;
  /** What was to be written. */
  readonly mine: Draft;
}

export class NotesView {
  readonly list = new Resource<Schemas['NotesPage']>();
  /** A note is on its way to the server. */
  pending = $state(false);
  /** Why the last one was not accepted. */
  problem = $state.raw<ApiProblem | undefined>();
  conflict = $state.raw<NoteConflict | undefined>();
  readonly #questions: () => readonly NotesQuestion[];
  /** Of what is being sent: the same until it is accepted, so that a repeat stays one note. */
  #sent: { readonly draft: string; readonly key: string } | undefined;

  /** `questions`: which notes; several are shown as one list. Made while its component is, with whose end it ends. */
  constructor(questions: () => readonly NotesQuestion[]) {
    this.#questions = questions;
    // compared by value: a reload creates an equal question and must not discard a draft
    const text = $derived(JSON.stringify(questions()));
    $effect(() => {
      void text;
      untrack(() => this.#forget());
      this.ask();
      return () => this.list.stop();
    });
    const refresh = throttle(() => {
      if (this.list.pending) return refresh();
      this.ask();
    }, REFRESH_MS);
    $effect(() => follow(refresh, [live.on('note', () => refresh())]));
  }

  ask(): void {
    const questions = untrack(this.#questions);
    if (questions.length) void this.list.ask((signal) => listAll(questions, signal));
  }

  get rows(): readonly Note[] {
    return this.list.data?.rows ?? [];
  }

  add(target: NoteTarget, text: string, more: Pick<NoteBody, 'kind' | 'until'> = {}): Promise<boolean> {
    return this.#send({ ...target, ...more, text });
  }

  /** `note`: as the user saw it. Without text (of an acknowledgement: and without `until`) it is deleted. */
  edit(note: Note, text: string, until: number | null = null): Promise<boolean> {
    return this.#send({ replaces: note.event_id, text, ...(until !== null && { until }) });
  }

  remove(note: Note): Promise<boolean> {
    return this.edit(note, '');
  }

  /** What was refused replaces what the other user wrote. */
  async keepMine(): Promise<boolean> {
    const { conflict } = this;
    return conflict !== undefined && this.#send({ ...conflict.mine, replaces: conflict.theirs.event_id });
  }

  async #send(draft: Draft): Promise<boolean> {
    if (this.pending) return false;
    [this.pending, this.problem] = [true, undefined];
    try {
      await postNote({
        ...draft,
        key: this.#keyOf(draft),
        ...(author.name !== null && { author: author.name }),
      });
      [this.#sent, this.conflict] = [undefined, undefined];
      this.ask();
      return true;
    } catch (thrown) {
      this.problem = problemFrom(thrown);
      const { note } = (this.problem.body ?? {}) as Partial<Schemas['NoteProblem']>;
      if (this.problem.kind === 'conflict' && note) this.conflict = { theirs: note, mine: draft };
      this.ask();
      return false;
    } finally {
      this.pending = false;
    }
  }

  #keyOf(draft: Draft): string {
    const text = JSON.stringify(draft);
    if (this.#sent?.draft !== text) this.#sent = { draft: text, key: newKey() };
    return this.#sent.key;
  }

  #forget(): void {
    this.list.clear();
    [this.#sent, this.problem, this.conflict] = [undefined, undefined, undefined];
  }
}

/** The answers to all questions as one, the newest note first. */
async function listAll(
  questions: readonly NotesQuestion[],
  signal: AbortSignal,
): Promise<Schemas['NotesPage']> {
  const pages = await Promise.all(questions.map((each) => listNotes({ ...each, limit: LIMIT }, signal)));
  const notes = new Map(pages.flatMap(({ rows }) => rows.map((note) => [note.note_id, note] as const)));
  return {
    rows: [...notes.values()].toSorted((a, b) => b.created_at - a.created_at),
    total: pages.reduce((sum, { total }) => sum + total, 0),
    complete: pages.every(({ complete }) => complete),
    next_cursor: pages.find(({ next_cursor: cursor }) => cursor)?.next_cursor ?? null,
  };
}
