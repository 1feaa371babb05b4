// What is asked of explain: a window, a job, and what it is compared with. Pure.
import type { ExplainQuestion } from '#lib/api/client.ts';
import type { Baseline } from '#lib/time/url.ts';
import type { Page } from './case.ts';

export type { Baseline };
/** As it is chosen; the ends of `custom` are typed. */
export type BaselineChoice = Page['baseline']['kind'];

export interface Window {
  readonly from: number;
  readonly to: number;
}

export const BASELINES: readonly { value: BaselineChoice; label: string }[] = [
  { value: 'before', label: '4× before' },
  { value: 'yesterday', label: 'same time yesterday' },
  { value: 'week', label: 'same time last week' },
  { value: 'custom', label: 'custom range' },
];
export const choiceOf = (baseline: Baseline): BaselineChoice =>
  typeof baseline === 'string' ? baseline : 'custom';

export function questionOf(window: Window, job: string | null, baseline: Baseline): ExplainQuestion {
  const choice = choiceOf(baseline);
  return {
    from: Math.round(window.from),
    to: Math.round(window.to),
    ...(job !== null && { job }),
    ...(choice !== 'before' && { baseline: choice }),
    ...(typeof baseline !== 'string' && {
      baseline_from: Math.round(baseline[0]),
      baseline_to: Math.round(baseline[1]),
    }),
  };
}

/** A live range moves on while it is read; that far it is still the same question. */
const DRIFT_MS = 15 * 60_000;

export const isSame = (asked: Window, shown: Window): boolean =>
  Math.abs(asked.from - shown.from) <= DRIFT_MS &&
  Math.abs(asked.to - shown.to) <= DRIFT_MS &&
  Math.abs(asked.to - asked.from - (shown.to - shown.from)) < 60_000;

/** Wide enough that what began before the window lies within. */
export const widen = ({ from, to }: Window): Window => ({ from: from - 4 * (to - from), to });
