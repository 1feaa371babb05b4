// Which of the best plans a budget pays for. Pure.
import { count } from '#lib/format/count.ts';
import { money, moneyBetween } from '#lib/format/money.ts';
import type { MaintenanceRow } from './words.ts';

export interface Budgeted {
  /** Rows from the first on that fit; those without a known cost are not counted and do not end it. */
  readonly rows: number;
  /** Plans among them whose cost is known. */
  readonly plans: number;
  readonly unpriced: number;
  readonly cost: { readonly low: number; readonly mid: number; readonly high: number };
  /** True: all rows fit, and more may follow them. */
  readonly all: boolean;
}

/** The longest run of rows, from the best on, whose expected costs sum to at most `budget`. */
export function withinBudget(rows: readonly MaintenanceRow[], budget: number): Budgeted {
  const cost = { low: 0, mid: 0, high: 0 };
  let [plans, unpriced, fitting] = [0, 0, 0];
  for (const { recommendation } of rows) {
    const its = recommendation.predicted.cost;
    if (its && cost.mid + its.mid > budget) break;
    if (its) {
      plans += 1;
      for (const bound of ['low', 'mid', 'high'] as const) cost[bound] += its[bound];
    } else unpriced += 1;
    fitting += 1;
  }
  return { rows: fitting, plans, unpriced, cost, all: fitting === rows.length };
}

/** `5`, `0.5` or `5,50` of the field; null: no amount. */
export function readBudget(text: string): number | null {
  const trimmed = text.trim();
  if (!/^\d{1,9}([.,]\d{1,4})?$/.test(trimmed)) return null;
  return Number(trimmed.replace(',', '.'));
}

/** `With 5 USD a day: the first 12 plans, which cost 4.80 USD (3.10 to 7.20 USD).` */
export function budgetSentence(
  { plans, unpriced, cost, all }: Budgeted,
  budget: number,
  currency: string,
  more: boolean,
): string {
  const start = `With ${money(budget, currency)} a day:`;
  const which =
    plans === 0
      ? 'no plan'
      : all && !more
        ? `all ${count(plans)} plans`
        : plans === 1
          ? 'the first plan'
          : `the first ${count(plans)} plans`;
  const costs = plans
    ? `, ${plans === 1 ? 'which costs' : 'which cost'} ${money(cost.mid, currency)} (${moneyBetween(cost, currency)})`
    : ', the first one costs more';
  const further = all && more ? ' Plans of the next page may fit, too.' : '';
  const without = unpriced
    ? ` ${unpriced === 1 ? '1 plan has' : `${count(unpriced)} plans have`} no known cost and ${unpriced === 1 ? 'is' : 'are'} not counted.`
    : '';
  return `${start} ${which}${costs}.${further}${without}`;
}
