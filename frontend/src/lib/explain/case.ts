// An explanation as the panel takes it: changes with their hypotheses, weighed again after what people ruled out. Pure.
import type { Schemas } from '#lib/api/client.ts';

export type Page = Schemas['ExplainPage'];
export type Change = Schemas['LevelChange'];
export type Commit = Schemas['CommitRow'];
export type Label = Schemas['Label'];
export type ChangeBounds = Schemas['ChangeBounds'];
type HypothesisRecord = Schemas['Hypothesis'];

/** What became of the question. */
export type Outcome = 'no-job' | 'pending' | 'too-little' | 'no-change' | 'explained';
export type Confidence = 'strong' | 'possible' | 'weak' | 'none';

export interface Hypothesis {
  readonly record: HypothesisRecord;
  /** Probability, 0 to 1, given what people ruled out; those of a change add up to 1. */
  readonly posterior: number;
  /** Null: no commit, or one that the answer does not show. */
  readonly commit: Commit | null;
  /** What a person said of it. */
  readonly label: Label | null;
}

export interface Case {
  readonly change: Change;
  readonly around: ChangeBounds;
  /** Best first; what was ruled out stands last. */
  readonly hypotheses: readonly Hypothesis[];
  readonly best: Hypothesis;
  readonly confidence: Confidence;
  /** How many suspects people ruled out. */
  readonly ruledOut: number;
}

const SURE = ['strong', 'possible', 'weak'] as const;
const LEAST_RUNS = 16;

export function outcomeOf(page: Page): Outcome {
  if (page.tables.length === 0) return 'no-job';
  if (page.explanation.changes.length) return 'explained';
  // no run after the commit is no data, whatever the runs before it say
  if (page.pending) return 'pending';
  return page.runs < LEAST_RUNS ? 'too-little' : 'no-change';
}

/** The changes of an answer: slowdowns before speed-ups, then as the answer ranks them. */
export function casesOf(page: Page, labels: readonly Label[] = page.labels): Case[] {
  const { changes, hypotheses } = page.explanation;
  const found = changes.map((change, index) => {
    const own = hypotheses.filter((record) => record.change === index);
    return caseOf(page, { change, around: page.around[index] ?? NOTHING_AROUND, own }, labels);
  });
  const rank = (each: Case) => (each.change.effect_ratio > 1 ? 0 : 1);
  return found.filter((each) => each !== null).sort((a, b) => rank(a) - rank(b) || size(b) - size(a));
}

const NOTHING_AROUND: ChangeBounds = {
  runs_before: 0,
  runs_after: 0,
  low_seconds: null,
  unbounded_because: null,
  high_seconds: null,
  competing: [],
};
/** What a commit that a person confirmed has of its change at least, as the server weighs it: people err too. */
const CERTAIN = 0.95;

const size = ({ change }: Case) => Math.abs(Math.log(change.effect_ratio)) * change.probability;

interface ChangeInput {
  readonly change: Change;
  readonly around: ChangeBounds;
  readonly own: readonly HypothesisRecord[];
}

function caseOf(page: Page, { change, around, own }: ChangeInput, labels: readonly Label[]): Case | null {
  const labelled = own.map((record) => ({
    record,
    // what the server weighed already is weighed here, with the words said since
    share: record.unlabelled ?? record.posterior,
    commit: page.suspects.find(({ snapshot_id: id }) => id === record.commit_id) ?? null,
    label: labels.find(({ snapshot_id: id }) => id === record.commit_id) ?? null,
  }));
  const sum = (group: typeof labelled) => group.reduce((whole, { share }) => whole + share, 0);
  const sure = sum(labelled.filter(({ label }) => isConfirmed(label)));
  const left = sum(labelled.filter(({ label }) => !isConfirmed(label) && !isOut(label)));
  const certain = sure > 0 ? Math.max(CERTAIN, sure / (sure + left)) : 0;
  const posterior = ({ label, share }: (typeof labelled)[number]) => {
    if (isOut(label)) return 0;
    if (isConfirmed(label)) return (certain * share) / sure;
    return left > 0 ? ((1 - certain) * share) / left : 0;
  };
  const hypotheses = labelled
    .map(({ share, ...each }) => ({ ...each, posterior: posterior({ share, ...each }) }))
    .sort((a, b) => confirmed(b) - confirmed(a) || b.posterior - a.posterior);
  const [best] = hypotheses;
  if (!best) return null;
  const commit = best.record.kind === 'commit' ? best.posterior : 0;
  const confidence = SURE.find((word) => commit >= (page.sure_from[word] ?? 1)) ?? 'none';
  return {
    change,
    around,
    hypotheses,
    best,
    confidence: confirmed(best) ? 'strong' : confidence,
    ruledOut: hypotheses.filter(({ label }) => isOut(label)).length,
  };
}

/** `expected`: it did it, and that is as it should be. */
export const isConfirmed = (label: Label | null): boolean =>
  label?.kind === 'confirmed' || label?.kind === 'expected';
const isOut = (label: Label | null) => label?.kind === 'rejected';
const confirmed = ({ label }: { label: Label | null }) => (isConfirmed(label) ? 1 : 0);

const NAMED: readonly Confidence[] = ['strong', 'possible'];

/** The commit that the verdict names: confirmed, or likely enough. */
export function namedIn({ best, confidence }: Case): Hypothesis | null {
  return best.record.kind === 'commit' && NAMED.includes(confidence) ? best : null;
}
