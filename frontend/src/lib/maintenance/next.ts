// Which of a table's plans comes next. Pure.
import type { Plan } from './words.ts';

/** The best plan that resolves one of the findings, else the best one; null: there is none. Plans come best first. */
export const planFor = (plans: readonly Plan[], codes: readonly string[]): Plan | null =>
  plans.find(({ because }) => because.some((code) => codes.includes(code))) ?? plans[0] ?? null;
