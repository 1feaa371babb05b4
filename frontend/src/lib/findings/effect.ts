// What a finding did to jobs, a sentence per job. No data yet is not an all-clear, and is never worded as one. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { count, percent, ratio, signed } from '#lib/format/count.ts';
import { seconds } from '#lib/format/duration.ts';
import { boundsWords } from './headline.ts';
import { atMoment } from './moment.ts';
import { isOpen, type Finding, type FindingCode } from './words.ts';

export type FindingEffect = Schemas['FindingEffect'];
type Verdict = FindingEffect['verdict'];

/** What needs attention first. */
const ORDER: readonly Verdict[] = ['slower', 'no_data_yet', 'unknown', 'faster', 'none'];
export const sortedEffects = (effects: readonly FindingEffect[]): FindingEffect[] =>
  effects.toSorted((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));

export const VERDICT_WORDS: Record<Verdict, string> = {
  slower: 'slower',
  faster: 'faster',
  none: 'no effect',
  unknown: 'unknown',
  no_data_yet: 'no data yet',
};

/** Codes whose cause is one event at a known instant, which divides the runs of a job into those before and after it. */
const MEASURED: ReadonlySet<FindingCode> = new Set<FindingCode>([
  'file_burst',
  'schema_breaking',
  'schema_changed',
]);
/** Groups that do not concern durations: the group of a job is about the job itself. */
const UNMEASURABLE: ReadonlySet<Finding['group']> = new Set<Finding['group']>(['jobs', 'schema', 'health']);

export const isMeasured = ({ code }: Finding): boolean => MEASURED.has(code);

/** Sentences without a full stop, the most important first; empty where there is nothing to measure, or where it is over. */
export function effectSentences(finding: Finding, now: number): string[] {
  if (finding.effects.length) return sortedEffects(finding.effects).map((each) => effectSentence(each, now));
  if (!isOpen(finding)) return [];
  if (isMeasured(finding)) return ['No known job reads the table'];
  return UNMEASURABLE.has(finding.group) ? [] : ['The effect on jobs is not measured'];
}

export function effectSentence(effect: FindingEffect, now: number): string {
  const { job_name: job, verdict, because } = effect;
  switch (verdict) {
    case 'slower':
    case 'faster':
      return changed(effect);
    case 'none':
      return `No effect on ${job}${within(effect)}`;
    case 'unknown':
      return `The effect on ${job} is unknown${because ? `: ${because}` : ''}`;
    case 'no_data_yet':
      return noDataYet(effect, now);
  }
}

/** `JOB takes 3.1× as long (2.6 to 3.7), 108 s more per run`. */
function changed({ job_name: job, verdict, ...effect }: FindingEffect): string {
  if (effect.ratio === null) return `${job} is ${verdict}`;
  const bounds = boundsWords(effect.ratio_low, effect.ratio_high);
  const size =
    effect.seconds === null
      ? null
      : `${seconds(Math.abs(effect.seconds))} ${verdict === 'slower' ? 'more' : 'less'} per run`;
  return `${job} takes ${ratio(effect.ratio)} as long${bounds ? ` ${bounds}` : ''}${size ? `, ${size}` : ''}`;
}

/** ` (−3 % to +4 %)`; empty where a bound is missing. */
function within({ ratio_low: low, ratio_high: high }: FindingEffect): string {
  return low === null || high === null
    ? ''
    : ` (${signed(low - 1, wholePercent)} to ${signed(high - 1, wholePercent)})`;
}

const wholePercent = (share: number) => percent(Math.round(share * 100) / 100);

function noDataYet({ job_name: job, runs, because, last_run_at: last }: FindingEffect, now: number): string {
  if (runs > 0) {
    const number = `${count(runs)} ${runs === 1 ? 'run' : 'runs'} of ${job} ${runs === 1 ? 'has' : 'have'} ended since`;
    return `Only ${number}${/^\d+ of \d+ runs$/.test(because) ? `, ${because.replace(/^\d+ of /, 'of ')} needed` : ''}`;
  }
  const earlier = last === null ? 'no earlier run is known' : `the last one ended ${atMoment(last, now)}`;
  return `No run of ${job} has ended since; ${earlier}`;
}
