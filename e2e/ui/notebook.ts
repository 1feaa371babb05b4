// The notes of the stub: kept in memory, with the rules of the server for keys, edits and conflicts.
import { at, NOW } from './moment.ts';

export interface StubNote {
  note_id: string;
  event_id: string;
  kind: 'note' | 'ack' | 'owner';
  scope: string;
  target_id: string;
  catalog: string | null;
  namespace: string | null;
  table: string | null;
  table_uuid: string | null;
  from: number | null;
  to: number | null;
  text: string;
  author: string;
  at: number;
  until: number | null;
  created_by: string;
  created_at: number;
  edits: number;
  deleted: boolean;
}
interface Posted {
  key: string;
  text?: string;
  kind?: StubNote['kind'];
  scope?: string;
  target_id?: string;
  table?: string;
  from?: number;
  to?: number;
  until?: number;
  author?: string;
  replaces?: string;
}
interface Answer {
  readonly status: number;
  readonly body: object;
}

export class Notebook {
  readonly notes: StubNote[] = [];
  /** Bodies that were accepted or refused, in order. */
  readonly posted: Posted[] = [];
  /** How often the list was requested. */
  lists = 0;
  readonly #keys = new Map<string, StubNote>();

  list(query: URLSearchParams): Answer {
    this.lists += 1;
    const wanted = (name: string, value: string) => !query.get(name) || query.get(name) === value;
    const rows = this.notes
      .filter((note) => !note.deleted)
      .filter(({ scope, target_id: id, kind, ...note }) => {
        const table = [note.catalog, note.namespace, note.table].join('.');
        return (
          wanted('scope', scope) && wanted('target_id', id) && wanted('kind', kind) && wanted('table', table)
        );
      })
      .toReversed();
    return { status: 200, body: { rows, total: rows.length, complete: true, next_cursor: null } };
  }

  post(body: Posted): Answer {
    this.posted.push(body);
    const repeated = this.#keys.get(body.key);
    if (repeated) return { status: 202, body: repeated };
    return body.replaces ? this.#edit(body, body.replaces) : this.#write(body);
  }

  #write(body: Posted): Answer {
    const [catalog = null, namespace = null, table = null] = body.table?.split('.') ?? [];
    const id = `n${this.notes.length + 1}`;
    const note: StubNote = {
      ...{ note_id: id, event_id: `${id}-1`, kind: body.kind ?? 'note', scope: body.scope ?? 'table' },
      ...{ target_id: body.target_id ?? '', catalog, namespace, table, table_uuid: null },
      ...{
        from: body.from ?? null,
        to: body.to ?? null,
        text: body.text ?? '',
        author: body.author ?? 'local',
      },
      ...{ at: NOW, until: body.until ?? null, created_by: body.author ?? 'local', created_at: at('05:58') },
      ...{ edits: 0, deleted: false },
    };
    this.notes.push(note);
    return this.#accept(body, note);
  }

  #edit(body: Posted, replaces: string): Answer {
    const note = this.notes.find(({ note_id: id }) => replaces.startsWith(`${id}-`));
    if (note?.event_id !== replaces) {
      const problem = {
        type: 'conflict',
        title: 'Conflict',
        status: 409,
        detail: 'the note was changed since',
      };
      return { status: 409, body: { ...problem, note } };
    }
    note.edits += 1;
    note.event_id = `${note.note_id}-${note.edits + 1}`;
    [note.text, note.until] = [body.text ?? '', body.until ?? null];
    [note.author, note.at] = [body.author ?? 'local', NOW];
    note.deleted = !note.text && note.until === null;
    return this.#accept(body, note);
  }

  #accept(body: Posted, note: StubNote): Answer {
    this.#keys.set(body.key, note);
    return { status: 202, body: { ...note } };
  }
}
