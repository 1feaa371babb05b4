// One incident as its page shows it: the alert, the table's timeline in its window, the commit that stands out, the steps
// of its runbook. Asks the server; draws nothing and knows no route.
import { untrack } from 'svelte';
import {
  getCommit,
  getExplanation,
  getRunbook,
  getTableRunbook,
  getTimeline,
  listEffects,
  postLabel,
  type NotesQuestion,
  type Schemas,
} from '#lib/api/client.ts';
import { fullName } from '#lib/api/names.ts';
import { refOf, type State } from '#lib/alerts/words.ts';
import { lastOperationSentences } from '#lib/effects/notes.ts';
import type { ExplainView } from '#lib/explain/ExplainView.svelte.ts';
import { causingCommit } from '#lib/findings/words.ts';
import { getTableForecast } from '#lib/forecast/api.ts';
import { riskSentence } from '#lib/forecast/sentence.ts';
import { Cursor } from '#lib/state/Cursor.svelte.ts';
import type { Note } from '#lib/notes/words.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { TimeRange } from '#lib/state/TimeRange.svelte.ts';
import { absolute, type RangeText } from '#lib/time/range.ts';
import { commitsOf, type Answer, type CommitEvent } from '#lib/api/lanes.ts';
import { lanesFor, withAlert } from './lanes.ts';
import { runbookName, runbookOfRule, stepsOf, ignorableWhen } from './runbook.ts';
import { runbookPath } from '#lib/runbook/path.ts';
import { onsetOf, suspectsOf } from './suspects.ts';

type Incident = Schemas['Incident'];
/** As many commits as the server puts into an incident; with so many there may be more. */
const MOST_COMMITS = 50;
/** Effects among which the newest one of each job is. */
const MOST_EFFECTS = 50;

export class IncidentView {
  readonly timeline = new Resource<Answer>();
  readonly commit = new Resource<Schemas['CommitDetail']>();
  readonly runbook = new Resource<string>();
  /** The runbook's statements for the table of the alert. */
  readonly statements = new Resource<Schemas['TableRunbook']>();
  readonly effects = new Resource<Schemas['LedgerPage']>();
  readonly forecast = new Resource<Schemas['TableForecastPage']>();
  readonly range = new TimeRange();
  readonly cursor = new Cursor();
  incident = $state.raw<Incident | undefined>();
  state = $state<State>('unknown');
  /** Why the table's job changed in the window of the alert; undefined until requested. */
  explaining = $state.raw<ExplainView>();
  /** Snapshot id of the commit that the reader chose; null: the one that stands out. */
  chosen = $state<string | null>(null);

  #before = $state.raw<readonly RangeText[]>([]);
  #gone = false;
  /** Commits of the whole window, from the answer that covered it: zooming must not change what stands out. */
  #whole = $state.raw<readonly CommitEvent[] | undefined>();

  readonly ref = $derived(refOf(this.incident?.alert.table ?? null));
  readonly onset = $derived(this.incident ? onsetOf(this.incident) : 0);
  readonly #table = $derived(this.ref && fullName(this.ref));
  /** Epoch ms: operations after the end of the alert are not part of its story; null: it fires. */
  readonly #until = $derived(this.incident?.alert.ends_at ?? null);
  readonly #rows = $derived.by(() => {
    const rows = this.incident?.commits ?? [];
    return rows.length && rows.length < MOST_COMMITS
      ? rows.map((row) => ({ ...row, commits: 1, expired: null }))
      : undefined;
  });
  /** Undefined until the commits of the window are known. */
  readonly suspects = $derived.by(() => {
    const commits = this.#whole ?? this.#rows;
    return this.incident && commits
      ? suspectsOf(this.incident, commits, this.timeline.data?.watermark)
      : undefined;
  });
  /** What the alert is about; null: no finding belongs to it. */
  readonly finding = $derived(this.incident?.finding ?? null);
  /** The commit that caused the finding; without a finding, the commit that stands out. */
  readonly noted = $derived(
    this.finding ? causingCommit(this.finding) : (this.suspects?.outstanding?.commit.snapshot_id ?? null),
  );
  /** The commit shown in full. */
  readonly shownId = $derived(this.chosen ?? this.noted);
  readonly answer = $derived(
    this.timeline.data && this.incident && withAlert(this.timeline.data, this.incident, this.state),
  );
  /** The job that the timeline shows, by its name; null: none is linked to the table. */
  readonly job = $derived(this.timeline.data?.lanes.find(({ id }) => id === 'job_duration')?.label ?? null);
  readonly dimmed = $derived.by(() => {
    const { span } = this.range;
    return (
      this.answer !== undefined && (this.answer.range.from !== span.from || this.answer.range.to !== span.to)
    );
  });
  /** Of a runbook that comes with the server; null: the alert has none of these. */
  readonly runbookName = $derived.by(() => {
    const link = this.incident?.links.find(({ kind }) => kind === 'runbook');
    return link ? runbookName(link.url) : runbookOfRule(this.incident?.alert.alert_name ?? null);
  });
  /** The commit whose rows statements select, whichever the reader looks at; undefined until that is known. */
  readonly #written = $derived(
    this.noted ?? (this.ref && !this.suspects && !this.timeline.problem ? undefined : null),
  );
  readonly isReadingRunbook = $derived(
    this.runbook.pending ||
      (this.ref !== null && !!this.runbook.data && !this.statements.data && !this.statements.problem),
  );
  readonly runbookHref = $derived(
    this.runbookName && runbookPath(this.runbookName, this.ref, this.#written ?? null),
  );
  /** Whether the first answer about the effects is on its way. */
  readonly isMeasuring = $derived(
    this.#table !== null && this.effects.data === undefined && this.effects.problem === undefined,
  );
  /** What the table's last maintenance did to the job that the alert names, else to those that are measured. */
  readonly maintenance = $derived(
    lastOperationSentences(this.effects.data?.rows ?? [], {
      only: this.incident?.alert.job_name ?? null,
      first: this.job,
    }),
  );
  /** What will probably happen to the table next, a sentence each; without what the alert itself is about. */
  readonly ahead = $derived.by(() => {
    const own = this.finding?.code === 'at_risk' ? this.finding.subject : null;
    return (this.forecast.data?.rows ?? [])
      .filter(({ state, metric }) => state === 'at_risk' && metric !== own)
      .map((row) => riskSentence(row, this.range.now));
  });
  readonly steps = $derived(
    this.runbook.data && !this.isReadingRunbook
      ? stepsOf(this.runbook.data, this.statements.data?.statements)
      : [],
  );
  readonly ignorable = $derived(this.runbook.data ? ignorableWhen(this.runbook.data) : '');
  /** What a new note is about: the finding, so that its own page shows it, too; else the alert; null: neither is known. */
  readonly noteTarget = $derived.by(() => {
    if (this.finding) return { scope: 'finding' as const, target_id: this.finding.finding_id };
    const alert = this.incident?.alert;
    if (!alert?.fingerprint || !this.incident?.transitions.length) return null;
    return { scope: 'alert' as const, target_id: alert.fingerprint, starts_at: alert.starts_at };
  });
  /** Notes of the finding and of this episode: some were written before the finding opened. */
  readonly noteQuestions = $derived.by((): NotesQuestion[] => {
    const [finding, alert] = [this.finding, this.incident?.alert];
    return [
      ...(finding ? [{ scope: 'finding' as const, target_id: finding.finding_id }] : []),
      ...(alert?.fingerprint
        ? [
            {
              ...{ scope: 'alert' as const, target_id: alert.fingerprint },
              ...{ from: alert.starts_at, to: alert.starts_at + 1 },
            },
          ]
        : []),
    ];
  });
  /** What was written; for the summary. */
  notes = $state.raw<readonly Note[]>([]);
  readonly zoomed = $derived(this.#before.length > 0);

  /** What is known now of an incident; the range follows its window until the reader moved it. */
  show(incident: Incident, state: State): void {
    const same =
      this.incident?.alert.fingerprint === incident.alert.fingerprint &&
      this.incident.alert.starts_at === incident.alert.starts_at;
    if (!same) this.#forget();
    [this.incident, this.state] = [incident, state];
    if (this.#before.length) return;
    const { from, to } = incident.window;
    this.range.tick();
    this.range.text = { from: String(from), to: to === null || to > Date.now() ? 'now' : String(to) };
  }

  /** Asks for what belongs to it. Call while a component initialises. */
  follow(): void {
    $effect(() => {
      void [this.ref, this.range.span];
      this.askTimeline();
    });
    $effect(() => {
      const { data } = this.timeline;
      const from = this.incident?.window.from;
      if (!data || from === undefined) return;
      const covers = data.range.from <= from && data.range.to >= Math.min(this.onset, data.range.to);
      if (covers && data.range.to > this.onset) this.#whole = commitsOf(data);
    });
    $effect(() => () => (this.#gone = true));
    $effect(() => this.askCommit());
    $effect(() => this.#askEffects());
    $effect(() => this.#askForecast());
    $effect(() => {
      if (this.job !== null) untrack(() => void this.explain());
    });
    $effect(() => this.askRunbook());
    $effect(() => this.#askStatements());
  }

  askTimeline(): void {
    const [ref, incident, { from, to, step }] = [this.ref, untrack(() => this.incident), this.range.span];
    if (!ref || !incident) return;
    const lanes = lanesFor(incident).join(',');
    void this.timeline.ask((signal) => getTimeline(ref, { from, to, step, lanes }, signal));
  }

  askCommit(): void {
    const [ref, id] = [this.ref, this.shownId];
    if (ref && id) void this.commit.ask((signal) => getCommit(ref, id, signal));
  }

  /** Without an answer the page has a sentence less. */
  #askEffects(): void {
    const [table, until] = [this.#table, this.#until];
    if (table === null) return;
    const question = {
      ...{ table, measure: 'duration' as const, limit: MOST_EFFECTS },
      ...(until !== null && { to: until }),
    };
    void this.effects.ask((signal) => listEffects(question, signal));
  }

  /** Of a table whose alert fires: after its end, a forecast is not part of its story. */
  #askForecast(): void {
    const [ref, until] = [this.ref, this.#until];
    if (ref && until === null) void this.forecast.ask((signal) => getTableForecast(ref, signal));
    else untrack(() => this.forecast.clear());
  }

  askRunbook(): void {
    const name = this.runbookName;
    if (name) void this.runbook.ask((signal) => getRunbook(name, signal));
    else untrack(() => this.runbook.clear());
  }

  #askStatements(): void {
    const [ref, name, written] = [this.ref, this.runbookName, this.#written];
    if (ref && name && written !== undefined)
      void this.statements.ask((signal) => getTableRunbook(ref, name, written, signal));
  }

  /** Explains the window of the alert, once: a table that goes on committing does not change the story of its alert. */
  async explain(): Promise<void> {
    const { ref, incident, job } = this;
    if (!ref || !incident || this.explaining) return;
    let parts;
    try {
      parts = await import('#lib/explain/parts.ts');
    } catch {
      return; // its place says that it did not load
    }
    if (this.#gone || this.ref !== ref || this.explaining) return;
    this.explaining = new parts.ExplainView({
      ask: (question, signal) => getExplanation(ref, question, signal),
      say: (saying) => postLabel(ref, saying),
    });
    const { from, to } = incident.window;
    await this.explaining.explain({ from, to: Math.min(to ?? this.range.now, this.range.now) }, job);
  }

  /** A range that moves with the clock moves up to it. */
  tick(): void {
    if (!this.range.range.relative || this.timeline.pending) return;
    const before = this.range.span;
    this.range.tick();
    if (this.range.span === before) this.askTimeline();
  }

  zoom(from: number, to: number, gliding: boolean): void {
    if (!gliding || !this.zoomed) this.#before = [...this.#before, this.range.text];
    this.range.tick();
    this.range.text = absolute(from, to);
  }

  back(): void {
    const before = this.#before.at(-1);
    if (!before) return;
    this.#before = this.#before.slice(0, -1);
    this.range.text = before;
  }

  #forget(): void {
    const { timeline, commit, runbook, statements, effects, forecast } = this;
    for (const each of [timeline, commit, runbook, statements, effects, forecast]) each.clear();
    this.explaining?.forget();
    this.explaining = undefined;
    [this.#before, this.#whole, this.chosen] = [[], undefined, null];
    [this.cursor.at, this.cursor.pin, this.cursor.selection] = [null, null, null];
  }
}
