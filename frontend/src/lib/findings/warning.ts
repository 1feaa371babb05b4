// A finding `at_risk` in the words of its forecast. Pure.
import { riskSentence, whatIfSentence, whyWords, type RiskPart } from '#lib/forecast/sentence.ts';
import { isPlural, metricNamed, printLevel, subjectOf, type RiskRow } from '#lib/forecast/words.ts';
import { Evidence } from './evidence.ts';
import { isOpen, type Finding } from './words.ts';

function warningOf({ subject, evidence: values }: Finding): RiskPart | null {
  const metric = metricNamed(subject);
  const evidence = new Evidence(values);
  const threshold = evidence.number('threshold');
  if (metric === null || threshold === null) return null;
  return {
    ...{ metric, threshold, state: 'at_risk', abstained: null, job_name: evidence.text('job') },
    ...{ level: evidence.number('level'), hours: evidence.number('hours') ?? 168 },
    ...{ p_cross: evidence.number('p_cross'), growth_per_day: evidence.number('growth_per_day') },
    ...{ p_cross_if_maintained: evidence.number('p_cross_if_maintained') },
    ...{ crosses_from: evidence.number('crosses_from'), crosses_to: evidence.number('crosses_to') },
    ...{ usual_drop_hours: null, last_drop_hours: null },
    driver: evidence.text('driver') as RiskRow['driver'],
  };
}

/** Without a full stop. What was expected of a finding that is closed is in the past. */
export function warningHeadline(finding: Finding, now: number): string {
  const warning = warningOf(finding);
  if (!warning) return `A metric ${isOpen(finding) ? 'will' : 'was expected to'} probably pass its threshold`;
  if (isOpen(finding)) return riskSentence(warning, now).replace(/\.$/, '');
  const were = isPlural(warning.metric) ? 'were' : 'was';
  return `${subjectOf(warning)} ${were} expected to pass ${printLevel(warning.metric, warning.threshold)}`;
}

/** Why, and what maintenance would change; null: neither is known. */
export function warningCause(finding: Finding): string | null {
  const warning = warningOf(finding);
  if (!warning) return null;
  const why = whyWords(warning);
  const whatIf = whatIfSentence(warning)?.replace(/\.$/, '') ?? null;
  if (why === null || whatIf === null) return capital(why ?? whatIf);
  return `${capital(why)}; ${whatIf.charAt(0).toLowerCase()}${whatIf.slice(1)}`;
}

const capital = (text: string | null): string | null =>
  text === null ? null : text.charAt(0).toUpperCase() + text.slice(1);
