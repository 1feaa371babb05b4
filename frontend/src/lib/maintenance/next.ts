// Which of a table's plans comes next. Pure.
import type { Plan, TableAdvice } from './words.ts';

/** The best plan that resolves one of the findings, else the best one; null: there is none. Plans come best first. */
export const planFor = (plans: readonly Plan[], codes: readonly string[]): Plan | null =>
  plans.find(({ because }) => because.some((code) => codes.includes(code))) ?? plans[0] ?? null;

const WAITING: readonly string[] = ['proposed', 'approved', 'queued', 'leased', 'checking', 'running'];

/** A plan that is under way, or waits for a decision, and that the server's rules do not recommend: a maintainer's own. */
export function ownPlan(data: Pick<TableAdvice, 'plans' | 'advice'>): TableAdvice['plans'][number] | null {
  const known = new Set(data.advice?.recommendations.map(({ plan_id }) => plan_id));
  return data.plans.find(({ plan_id, state }) => WAITING.includes(state) && !known.has(plan_id)) ?? null;
}
