// The effect of an operation on a job in words: one composer for the ledger, commits, incidents and tooltips. Pure. Where
// there is no verdict, nothing is claimed: bounds and the reason only.
import type { Schemas } from '#lib/api/client.ts';
import { count, MINUS, signed } from '#lib/format/count.ts';
import { seconds } from '#lib/format/duration.ts';

type LedgerRow = Schemas['LedgerRow'];
export type LedgerVerdict = LedgerRow['verdict'];
export type Measure = LedgerRow['measure'];

/** What was measured; the same for a row of the ledger and for a job of a commit's page. */
export type MeasuredEffect = Pick<
  LedgerRow,
  | 'job_name'
  | 'measure'
  | 'verdict'
  | 'because'
  | 'ratio'
  | 'ratio_low'
  | 'ratio_high'
  | 'change'
  | 'change_low'
  | 'change_high'
  | 'more_runs'
  | 'runs_after'
>;

/** Runs of which the first measurement is made. */
const FIRST_MARK = 8;
/** From this ratio on, `twice as long` is clearer than `100 % slower`. */
const TIMES = 2;

/** The effect of a commit on a job, as the ledger has it. */
export const ofRunEffect = (effect: Schemas['RunEffect']): MeasuredEffect => ({
  job_name: effect.job,
  measure: 'duration',
  verdict: effect.verdict,
  because: effect.because,
  ratio: effect.ratio,
  ratio_low: effect.ratio_low,
  ratio_high: effect.ratio_high,
  change: effect.change_s,
  change_low: effect.change_low_s,
  change_high: effect.change_high_s,
  more_runs: effect.more_runs,
  runs_after: effect.runs_after,
});

/** Whether the verdict states a change, or that there is none. */
export const isClaim = ({ verdict }: Pick<MeasuredEffect, 'verdict'>): boolean =>
  verdict === 'helped' || verdict === 'worse' || verdict === 'none';

/** `14`, `0.4`, `99.6`: whole, unless that would read as nothing or as everything. */
function percentText(share: number): string {
  const hundred = Math.abs(share) * 100;
  if (hundred < 0.05) return '0';
  if (hundred < 1 || (hundred > 99 && hundred < 100)) return Math.min(hundred, 99.9).toFixed(1);
  return count(hundred);
}

/** `−12 %`, `+9 %`, `0 %` of a ratio. */
export function signedPercent(ratio: number): string {
  const text = percentText(ratio - 1);
  return text === '0' ? '0 %' : `${ratio < 1 ? MINUS : '+'}${text} %`;
}

const timesText = (ratio: number) => (ratio >= 10 ? count(ratio) : String(Number(ratio.toFixed(1))));

/** `8 to 19 %`, `2.9 to 3.3 times`, `at least 8 %` of the bounds of a verdict; null: both sides are unbounded. */
export function claimBounds({ ratio, ratio_low: low, ratio_high: high }: MeasuredEffect): string | null {
  if (ratio !== null && ratio >= TIMES) {
    if (low === null && high === null) return null;
    if (low === null) return `at most ${timesText(high ?? 0)} times`;
    if (high === null) return `at least ${timesText(low)} times`;
    return `${timesText(low)} to ${timesText(high)} times`;
  }
  const less = (ratio ?? high ?? 1) < 1;
  const [near, far] = less ? [high, low] : [low, high];
  if (near === null && far === null) return null;
  if (near === null) return `at most ${percentText((far ?? 1) - 1)} %`;
  if (far === null) return `at least ${percentText(near - 1)} %`;
  // a slowdown may reach beyond the point where percentages are read easily
  const most = far >= 10 ? `${timesText(far)} times` : `${percentText(far - 1)} %`;
  return far >= 10 ? `${percentText(near - 1)} % to ${most}` : `${percentText(near - 1)} to ${most}`;
}

/** `−12 % to +9 %`, `at most +9 %`; null: both sides are unbounded, or there are no bounds. */
export function signedBounds({ ratio_low: low, ratio_high: high }: MeasuredEffect): string | null {
  if (low === null && high === null) return null;
  if (low === null) return `at most ${signedPercent(high ?? 1)}`;
  if (high === null) return `at least ${signedPercent(low)}`;
  return `${signedPercent(low)} to ${signedPercent(high)}`;
}

const FASTER = { duration: 'faster', planning: 'shorter', files: 'fewer files' } as const;
const SLOWER = { duration: 'slower', planning: 'longer', files: 'more files' } as const;
const AS_MUCH = { duration: 'as long', planning: 'as long', files: 'as many files' } as const;

/** `14 % faster`, `3.1 times as long`: the size of a claimed change; null where none is claimed. */
function sizeWords({ verdict, measure, ratio }: MeasuredEffect): string | null {
  if (ratio === null || (verdict !== 'helped' && verdict !== 'worse')) return null;
  if (ratio >= TIMES) return `${timesText(ratio)} times ${AS_MUCH[measure]}`;
  return `${percentText(ratio - 1)} % ${(ratio < 1 ? FASTER : SLOWER)[measure]}`;
}

/** `14 % faster`, `no measurable change`, `not known yet`: a row in two or three words. */
export function shortWords(effect: MeasuredEffect): string {
  const size = sizeWords(effect);
  if (size !== null) return size;
  return {
    helped: 'lower',
    worse: 'higher',
    none: 'no measurable change',
    unknown: effect.more_runs === null ? 'not known' : 'not known yet',
    confounded: 'confounded',
    not_separable: 'not separable',
    no_data_yet: 'no data yet',
  }[effect.verdict];
}

/** `−14 s (−19 s to −8 s)`, `−120 files`; null where it is not known or where no change is claimed. */
export function changeWords(effect: MeasuredEffect): string | null {
  const { measure, change, change_low: low, change_high: high } = effect;
  if (change === null || (effect.verdict !== 'helped' && effect.verdict !== 'worse')) return null;
  const say = measure === 'files' ? filesText : seconds;
  const size = signed(change, say);
  return low === null || high === null ? size : `${size} (${signed(low, say)} to ${signed(high, say)})`;
}
const filesText = (n: number) => `${n < 10 && n % 1 ? n.toFixed(1) : count(n)} ${n === 1 ? 'file' : 'files'}`;

/** False: no job is known to read the table. Scans are of all of them. */
const isOfJob = ({ job_name: job, measure }: MeasuredEffect) => job !== '' || measure !== 'duration';

/** What the measure is of: `churn`, `planning for churn`, `scans`. */
function subjectOf({ job_name: job, measure }: MeasuredEffect): string {
  if (measure === 'duration') return job || 'the job';
  if (measure === 'planning') return job ? `planning for ${job}` : 'planning';
  return job || 'scans';
}

/** `churn 14 % faster`, with what a verb needs: `make churn take …`, `churn takes …`. */
function claim(effect: MeasuredEffect, mood: 'made' | 'is'): string {
  const subject = subjectOf(effect);
  const size = sizeWords(effect) ?? '';
  const times = (effect.ratio ?? 1) >= TIMES;
  const one = subject !== 'scans';
  const verb =
    effect.measure === 'files' ? (one ? 'opens' : 'open') : times ? 'takes' : mood === 'is' ? 'is' : '';
  const bare = verb.replace(/^(open|take)s$/, '$1');
  return [subject, mood === 'made' ? bare : verb, size].filter(Boolean).join(' ');
}

const inBrackets = (text: string | null) => (text === null ? '' : ` (${text})`);
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const BOUNDS = /^between [+\-−]?\d[^;]*(; |$)/;
/** What the server adds to the bounds that are shown anyway: `no controls`; empty: nothing. */
export const remarksOf = ({ because }: Pick<MeasuredEffect, 'because'>): string =>
  because.replace(BOUNDS, '');

/** `9 more runs would probably show it`; null where no number of runs would. */
export function moreRunsWords({ more_runs: more }: Pick<MeasuredEffect, 'more_runs'>): string | null {
  if (more === null) return null;
  return more === 1 ? '1 more run would probably show it' : `${count(more)} more runs would probably show it`;
}

/** `3 of 8 runs so far`: how far the first measurement is away; else why no run is counted. */
function runsSoFar({ runs_after: runs, because }: Pick<MeasuredEffect, 'runs_after' | 'because'>): string {
  if (runs === null) return because || 'the number of runs is unknown';
  return `${count(runs)} of ${FIRST_MARK} runs so far`;
}

/** Why there is no verdict, without a full stop. */
export function reasonWords(effect: MeasuredEffect): string {
  const bounds = signedBounds(effect);
  if (effect.verdict === 'no_data_yet') return runsSoFar(effect);
  if (effect.verdict !== 'unknown') return effect.because;
  if (bounds === null && effect.ratio !== null) return 'no bounds';
  const parts = [bounds && `between ${bounds.replace(' to ', ' and ')}`.replace(/^between (at )/, '$1')];
  parts.push(moreRunsWords(effect) ?? remarksOf(effect));
  return parts.filter(Boolean).join('; ');
}

/**
 * `The last compaction of this table made churn 14 % faster (8 to 19 %).`
 * @param operation `the last compaction of this table`, `this compaction`
 */
export function operationSentence(operation: string, effect: MeasuredEffect): string {
  const subject = subjectOf(effect);
  switch (effect.verdict) {
    case 'helped':
    case 'worse':
      return `${capital(operation)} made ${claim(effect, 'made')}${inBrackets(claimBounds(effect))}.`;
    case 'none':
      return `${capital(operation)} made no measurable change to ${subject}, within ±5 %${inBrackets(signedBounds(effect))}.`;
    case 'unknown':
      return `The effect of ${operation} on ${subject} is ${shortWords(effect)}${colon(reasonWords(effect))}.`;
    case 'confounded':
      return `The effect of ${operation} on ${subject} is confounded${colon(effect.because)}.`;
    case 'not_separable':
      return `The effect of ${operation} on ${subject} is not separable from other changes${colon(effect.because)}.`;
    case 'no_data_yet':
      return `No data yet on the effect of ${operation}${isOfJob(effect) ? ` on ${subject}` : ''}: ${runsSoFar(effect)}.`;
  }
}
const colon = (text: string) => (text ? `: ${text}` : '');

/** `churn is 14 % faster since the commit (8 to 19 %)`, without a full stop; of a commit, which may be no maintenance. */
export function sinceCommitSentence(effect: MeasuredEffect): string {
  const subject = subjectOf(effect);
  switch (effect.verdict) {
    case 'helped':
    case 'worse':
      return `${claim(effect, 'is')} since the commit${inBrackets(claimBounds(effect))}`;
    case 'none':
      return `${subject}: no measurable change, within ±5 %${inBrackets(signedBounds(effect))}`;
    case 'unknown':
      return `${subject}: ${shortWords(effect)}${colon(reasonWords(effect)).replace(/^:/, ',')}`;
    case 'confounded':
      return `${subject}: confounded by another change${colon(effect.because).replace(/^:/, ',')}`;
    case 'not_separable':
      return `${subject}: not separable from other changes${colon(effect.because).replace(/^:/, ',')}`;
    case 'no_data_yet':
      return `${isOfJob(effect) ? `${subject}: ` : ''}no data yet, ${runsSoFar(effect)}`;
  }
}
