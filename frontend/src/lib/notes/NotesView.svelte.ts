// The notes about one thing: the list, which follows what others write, and what is written here. Draws nothing.
import { listNotes, postNote, type NoteBody, type NotesQuestion, type Schemas } from '#lib/api/client.ts';
import { problemFrom, type ApiProblem } from '#lib/api/problem.ts';
import { follow } from '#lib/live/follow.ts';
import { live } from '#lib/live/live.svelte.ts';
import { throttle } from '#lib/live/throttle.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { author } from './author.svelte.ts';
import { newKey, type Note, type NoteTarget } from './words.ts';

const REFRESH_MS = 1_000;
const LIMIT = 50;

/** Another user changed the note first. */
export interface NoteConflict {
  /** As it is now. */
  readonly theirs: Note;
  /** What was to be written. */
  readonly mine: string;
}

export class NotesView {
  readonly list = new Resource<Schemas['NotesPage']>();
  /** A note is on its way to the server. */
  pending = $state(false);
  /** Why the last one was not accepted. */
  problem = $state.raw<ApiProblem | undefined>();
  conflict = $state.raw<NoteConflict | undefined>();
  readonly #question: () => NotesQuestion | null;
  /** Of the text that is being sent: the same until it is accepted, so that a repeat stays one note. */
  #sent: { readonly body: string; readonly key: string } | undefined;

  /** `question`: which notes; null: not known yet. Made while its component is, with whose end it ends. */
  constructor(question: () => NotesQuestion | null) {
    this.#question = question;
    $effect(() => {
      void question();
      this.list.clear();
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
    const question = this.#question();
    if (question) void this.list.ask((signal) => listNotes({ ...question, limit: LIMIT }, signal));
  }

  get rows(): readonly Note[] {
    return this.list.data?.rows ?? [];
  }

  add(target: NoteTarget, text: string, more: Pick<NoteBody, 'kind' | 'until'> = {}): Promise<boolean> {
    return this.#send({ ...target, ...more, text }, text);
  }

  /** Without text (of an acknowledgement: and without `until`) the note is deleted. */
  edit(note: Note, text: string, until: number | null = null): Promise<boolean> {
    return this.#send({ replaces: note.event_id, text, ...(until !== null && { until }) }, text);
  }

  remove(note: Note): Promise<boolean> {
    return this.edit(note, '');
  }

  async #send(body: Omit<NoteBody, 'key' | 'author'>, text: string): Promise<boolean> {
    if (this.pending) return false;
    [this.pending, this.problem, this.conflict] = [true, undefined, undefined];
    try {
      await postNote({
        ...body,
        key: this.#keyOf(body),
        ...(author.name !== null && { author: author.name }),
      });
      this.#sent = undefined;
      this.ask();
      return true;
    } catch (thrown) {
      this.problem = problemFrom(thrown);
      const { note } = (this.problem.body ?? {}) as Partial<Schemas['NoteProblem']>;
      if (this.problem.kind === 'conflict' && note) this.conflict = { theirs: note, mine: text };
      this.ask();
      return false;
    } finally {
      this.pending = false;
    }
  }

  #keyOf(body: object): string {
    const text = JSON.stringify(body);
    if (this.#sent?.body !== text) this.#sent = { body: text, key: newKey() };
    return this.#sent.key;
  }
}
