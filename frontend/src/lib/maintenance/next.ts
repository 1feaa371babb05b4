// Which of a table's plans comes next. Pure.
import type { Plan, TableAdvice } from './words.ts';

/** The best plan that resolves one of the findings, else the best one; null: there is none. Plans come best first. */
export const planFor = (plans: readonly Plan[], codes: readonly string[]): Plan | null =>
  plans.find(({ because }) => because.some((code) => codes.includes(code))) ?? plans[0] ?? null;

const RULES_OF: readonly (readonly [codes: string, rules: string])[] = [
  [
    'small_files file_burst too_many_files compaction_stopped compaction_ineffective hot_partition',
    'compact delta_compact hudi_compaction',
  ],
  [
    'delete_files_growing equality_deletes deletes_not_materialized',
    'compact_deletes position_deletes delta_purge hudi_compaction',
  ],
  ['snapshots_unbounded held_bytes metadata_large', 'expire delta_vacuum'],
  ['manifests_fragmented', 'manifests'],
  ['metadata_versions_kept', 'metadata_versions'],
  ['tiny_commits write_mode_mismatch', 'writer'],
  ['overlap filter_not_pruned', 'cluster'],
];

/** Whether a rule answers for a code. A code without a rule is answered under its own name. */
const answers = (rule: string, code: string): boolean =>
  rule === code ||
  RULES_OF.some(([codes, rules]) => codes.split(' ').includes(code) && rules.split(' ').includes(rule));

/** Why no plan resolves the findings: what would not pay, else what is missing; null: a plan does, or nothing is said. */
export function reasonFor(
  advice: Pick<NonNullable<TableAdvice['advice']>, 'recommendations' | 'not_worth' | 'not_known'>,
  codes: readonly string[],
): { rule: string; text: string } | null {
  if (advice.recommendations.some(({ because }) => because.some((code) => codes.includes(code)))) return null;
  const of = <T extends { rule: string }>(all: readonly T[]): T | undefined =>
    all.find(({ rule }) => codes.some((code) => answers(rule, code)));
  const paid = of(advice.not_worth);
  if (paid) return { rule: paid.rule, text: `not worth it: ${paid.text}` };
  const missing = of(advice.not_known);
  return missing
    ? { rule: missing.rule, text: `not known, because this is missing: ${missing.missing}` }
    : null;
}

const WAITING: readonly string[] = ['proposed', 'approved', 'queued', 'leased', 'checking', 'running'];

/** A plan that is under way, or waits for a decision, and that the server's rules do not recommend: a maintainer's own. */
export function ownPlan(data: Pick<TableAdvice, 'plans' | 'advice'>): TableAdvice['plans'][number] | null {
  const known = new Set(data.advice?.recommendations.map(({ plan_id }) => plan_id));
  return data.plans.find(({ plan_id, state }) => WAITING.includes(state) && !known.has(plan_id)) ?? null;
}
