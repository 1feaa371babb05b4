// States of a plan in words: what each means, how far the plan is, and the promise beside the result. Pure.
import { bytes } from '#lib/format/bytes.ts';
import { count } from '#lib/format/count.ts';
import { money, NOT_KNOWN } from '#lib/format/money.ts';
import { timeBetween } from '#lib/maintenance/amounts.ts';
import type { Decision, PlanDetail, PlanView } from './api.ts';

type Tone = 'ok' | 'warn' | 'crit' | 'unknown' | 'info';
interface StateWords {
  /** `Waiting for a decision` */
  text: string;
  tone: Tone;
}

const STATES: Record<string, StateWords> = {
  proposed: { text: 'Waiting for a decision', tone: 'info' },
  approved: { text: 'Approved: waiting for the maintainer', tone: 'info' },
  queued: { text: 'Waiting for the next attempt', tone: 'info' },
  leased: { text: 'Starting', tone: 'info' },
  checking: { text: 'Planning again and checking the guards', tone: 'info' },
  running: { text: 'Running', tone: 'info' },
  cancelling: { text: 'Being cancelled', tone: 'warn' },
  committed: { text: 'Committed: being verified', tone: 'info' },
  verified: { text: 'Done and verified', tone: 'ok' },
  measured: { text: 'Done, verified, and its effect measured', tone: 'ok' },
  conflicted: { text: 'Another writer committed first: nothing was changed', tone: 'warn' },
  dismissed: { text: 'Dismissed', tone: 'unknown' },
  withdrawn: { text: 'Withdrawn', tone: 'unknown' },
  expired: { text: 'Expired without a decision', tone: 'unknown' },
  superseded: { text: 'Superseded: the table changed', tone: 'unknown' },
  refused: { text: 'Refused by a guard or the policy', tone: 'warn' },
  cancelled: { text: 'Cancelled: nothing was changed', tone: 'unknown' },
  failed: { text: 'Failed', tone: 'crit' },
  partly: { text: 'Partly done, not verified yet', tone: 'warn' },
  unknown: { text: 'Interrupted: the table decides what happened', tone: 'warn' },
};

/** A state that this version does not know is shown as it is. */
export const stateWords = (state: string): StateWords => STATES[state] ?? { text: state, tone: 'unknown' };

/** States in which something happens without a user: the page asks again. */
const MOVING = [
  'approved',
  'queued',
  'leased',
  'checking',
  'running',
  'cancelling',
  'committed',
  'partly',
  'unknown',
];
export const isMoving = (state: string): boolean => MOVING.includes(state);

const STEPS = ['proposed', 'approved', 'running', 'committed', 'verified'] as const;
const STEP_NAMES = ['Proposed', 'Approved', 'Running', 'Committed', 'Verified'];
const REACHED: Record<string, number> = {
  ...{ proposed: 0, approved: 1, queued: 1, leased: 1, checking: 1, running: 2, cancelling: 2, unknown: 2 },
  ...{ committed: 3, partly: 3, verified: 4, measured: 4 },
};

export interface PlanStepState {
  name: string;
  /** Epoch ms when the plan entered it; null: it has not, or the time is unknown. */
  at: number | null;
  state: 'done' | 'now' | 'to come';
}

/** The way of a plan from proposal to verification; none for a plan that ended before. */
export function steps({ state, history }: Pick<PlanDetail, 'state' | 'history'>): PlanStepState[] {
  const reached = REACHED[state];
  if (reached === undefined) return [];
  return STEPS.map((step, i) => ({
    name: STEP_NAMES[i] ?? step,
    at: i <= reached ? (history.findLast((each) => each.state === step)?.at ?? null) : null,
    state: i < reached || reached === STEPS.length - 1 ? 'done' : i === reached ? 'now' : 'to come',
  }));
}

interface DecisionWords {
  button: string;
  title: string;
  /** What the button inside the panel says. */
  confirm: string;
  /** What it does, in a sentence or two. */
  effect: string;
  /** What is announced afterwards. */
  done: string;
}

export const DECISIONS: Record<Decision, DecisionWords> = {
  approve: {
    ...{
      button: 'Approve',
      title: 'Approve this plan',
      confirm: 'Approve and run',
      done: 'The plan is approved',
    },
    effect:
      'The maintainer runs exactly this plan. It plans again first: if the table has changed, or its own policy forbids the action, it does not run.',
  },
  dismiss: {
    ...{
      button: 'Dismiss',
      title: 'Dismiss this plan',
      confirm: 'Dismiss plan',
      done: 'The plan is dismissed',
    },
    effect: 'The plan does not run. It is not proposed again for a week unless its arguments change.',
  },
  withdraw: {
    ...{
      button: 'Withdraw',
      title: 'Withdraw this plan',
      confirm: 'Withdraw plan',
      done: 'The plan is withdrawn',
    },
    effect: 'The plan that you proposed does not run.',
  },
  cancel: {
    ...{
      button: 'Cancel',
      title: 'Cancel this plan',
      confirm: 'Cancel plan',
      done: 'The plan is being cancelled',
    },
    effect: 'A running action ends within seconds. What it has committed until then stays in the table.',
  },
  propose: {
    ...{ button: 'Propose again', title: 'Propose this plan again', confirm: 'Propose plan' },
    ...{ done: 'The plan is proposed again', effect: 'Nothing runs before someone approves the plan.' },
  },
};

export interface PromiseRow {
  name: string;
  promised: string;
  result: string;
}
const orUnknown = (value: number | null, text: (value: number) => string) =>
  value === null ? NOT_KNOWN : text(value);

/** What was promised beside what the table confirmed; empty until it did. */
export function promiseRows(plan: Pick<PlanView, 'predicted' | 'result' | 'currency'>): PromiseRow[] {
  const { predicted: promise, result } = plan;
  if (!result) return [];
  const row = (
    name: string,
    promised: number | null,
    got: number | null,
    text: (value: number) => string,
  ): PromiseRow[] =>
    promised === null && got === null
      ? []
      : [{ name, promised: orUnknown(promised, text), result: orUnknown(got, text) }];
  const currency = plan.currency ?? '';
  const seconds = (value: number) => timeBetween({ low: value, high: value });
  return [
    ...row('Files replaced', promise.files_in, result.files_in, count),
    ...row('Files written', promise.files_out, result.files_out, count),
    ...row('Bytes read', promise.bytes_in, result.bytes_in, bytes),
    ...row('Bytes written', promise.bytes_out, result.bytes_out, bytes),
    ...row('Bytes freed', promise.bytes_freed, result.bytes_freed, bytes),
    {
      name: 'Time',
      promised: promise.seconds ? timeBetween(promise.seconds) : NOT_KNOWN,
      result: orUnknown(result.seconds, seconds),
    },
    {
      name: 'Cost',
      promised: money(promise.cost?.mid, currency),
      result: money(result.cost, currency),
    },
  ];
}

/** Enough of a digest to compare by eye. */
export const shortDigest = (digest: string | null): string =>
  digest === null ? NOT_KNOWN : digest.slice(0, 12);
