// The ledger beside a table's timeline: its newest rows, and the verdicts of the range that is shown. Draws nothing.
import { listEffects, type Schemas } from '#lib/api/client.ts';
import { fullName, type TableRef } from '#lib/api/names.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { notesOf } from './notes.ts';

/** Rows of the section, and those that a timeline's marks come from. */
const NEWEST = 5;
const MOST_MARKED = 500;
const DAY_MS = 86_400_000;

export class TableEffectsView {
  readonly newest = new Resource<Schemas['LedgerPage']>();
  readonly #shown = new Resource<Schemas['LedgerPage']>();
  readonly notes = $derived(notesOf(this.#shown.data?.rows ?? []));
  #marked = '';

  askNewest(ref: TableRef): void {
    const question = { table: fullName(ref), limit: NEWEST };
    void this.newest.ask((signal) => listEffects(question, signal));
  }

  /** Verdicts of the days that a range touches: not again while it moves within them. */
  askShown(ref: TableRef, { from, to }: { from: number; to: number }): void {
    const table = fullName(ref);
    const days = {
      from: Math.floor(from / DAY_MS) * DAY_MS,
      to: Math.ceil(to / DAY_MS) * DAY_MS,
    };
    const asked = `${table} ${days.from} ${days.to}`;
    if (asked === this.#marked && !this.#shown.problem) return;
    this.#marked = asked;
    void this.#shown.ask((signal) => listEffects({ table, ...days, limit: MOST_MARKED }, signal));
  }

  /** What is known may have changed since. */
  refresh(ref: TableRef, span: { from: number; to: number }): void {
    this.#marked = '';
    this.askNewest(ref);
    this.askShown(ref, span);
  }

  /** Another table follows. */
  forget(): void {
    this.newest.clear();
    this.#shown.clear();
    this.#marked = '';
  }
}
