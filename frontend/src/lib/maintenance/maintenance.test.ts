import { expect, test } from 'vitest';
import { money, moneyBetween } from '#lib/format/money.ts';
import { paybackText, timeBetween } from './amounts.ts';
import { budgetSentence, readBudget, withinBudget } from './budget.ts';
import { maintenanceRow, plan } from './fixtures.ts';
import { planFor, reasonFor } from './next.ts';
import { riskOf } from './risk.ts';
import { listed, planSentence, reasonWords, savedTimeText, spokenRow, unknownParts } from './sentence.ts';
import { engineName, ruleName } from './words.ts';

const NOTHING = {
  ...{ files_in: null, files_out: null, bytes_in: null, bytes_out: null, bytes_freed: null },
  ...{ seconds: null, cost: null },
};
const NO_VALUE = { seconds_per_day: null, money_per_month: null, payback_days: null };
const WHOLE = { partitions: [], where: null };

test('a compaction as one sentence', () =>
  expect(planSentence(plan(), 'USD')).toBe(
    'Compacting 3 partitions would turn 1,840 files into 22, takes 4 to 9 min, costs 0.11 USD and pays back in 2 days.',
  ));

test('an expiry frees bytes of the whole table', () => {
  const expiry = plan({
    ...{ rule: 'expire', action: 'expire_snapshots', scope: WHOLE },
    predicted: { ...NOTHING, bytes_freed: 12e9, seconds: { low: 20, mid: 40, high: 100 } },
    value: { ...NO_VALUE, money_per_month: 0.28 },
  });
  expect(planSentence(expiry, 'EUR')).toBe(
    'Expiring snapshots would free 12 GB, takes 20 s to 2 min and saves 0.28 EUR a month.',
  );
  expect(unknownParts(expiry)).toEqual(['cost']);
});

test('what is not known is not in the sentence, and never 0', () => {
  const bare = plan({ predicted: NOTHING, value: NO_VALUE, scope: { partitions: ['day=1'], where: null } });
  expect(planSentence(bare, 'USD')).toBe('Compacting partition day=1 is recommended.');
  expect(unknownParts(bare)).toEqual(['time', 'cost', 'saving']);
  expect(money(null, 'USD')).toBe('not known');
});

test('a change of properties takes no time and costs nothing: neither is unknown', () => {
  const change = plan({ rule: 'writer', action: 'set_properties', predicted: NOTHING, value: NO_VALUE });
  expect(planSentence(change, 'USD')).toBe('Changing how the table is written is recommended.');
  expect(unknownParts(change)).toEqual(['saving']);
});

test('a rule of a later version is named by its action', () => {
  const later = plan({ rule: 'new_rule', action: 'rewrite_all', predicted: NOTHING, value: NO_VALUE });
  expect(planSentence(later, 'USD')).toBe('Running rewrite_all on 3 partitions is recommended.');
  expect(ruleName('new_rule')).toBe('New rule');
  expect(riskOf(later).undo).toBe('Not known for this action.');
});

test.each([
  [{ low: 240, high: 540 }, '4 to 9 min'],
  [{ low: 0.2, high: 30 }, '1 to 30 s'],
  [{ low: 40, high: 180 }, '40 s to 3 min'],
  [{ low: 240, high: 250 }, 'about 4 min'],
  [{ low: 5400, high: 86_400 }, '1.5 to 24 h'],
  [{ low: 200_000, high: 900_000 }, '2.3 to 10 days'],
])('seconds %o read as %s', (seconds, text) => expect(timeBetween(seconds)).toBe(text));

test.each([
  [0, '0 USD'],
  [0.004, 'under 0.01 USD'],
  [0.11, '0.11 USD'],
  [1204.4, '1,204 USD'],
  [-3, '−3.00 USD'],
  [Number.NaN, 'not known'],
])('%d reads as %s', (value, text) => expect(money(value, 'USD')).toBe(text));

test('bounds of money: alike, tiny and apart', () => {
  expect(moneyBetween({ low: 0.08, high: 0.19 }, 'USD')).toBe('0.08 to 0.19 USD');
  expect(moneyBetween({ low: 0.11, high: 0.112 }, 'USD')).toBe('0.11 USD');
  expect(moneyBetween({ low: 0.001, high: 0.02 }, 'USD')).toBe('0.00 to 0.02 USD');
});

test.each([
  [0.01, 'within an hour'],
  [0.04, 'within an hour'],
  [0.05, 'in 1 hour'],
  [2, 'in 2 days'],
  [120, 'in 4 months'],
  [null, 'not known'],
])('%s days pay back %s', (days, text) => expect(paybackText(days)).toBe(text));

test('saved time names what it rests on', () => {
  expect(savedTimeText(plan().value)).toBe('12 min of jobs a day, measured on this table');
  const borrowed = { ...NO_VALUE, seconds_per_day: { mid: 40, basis: 'borrowed' } };
  expect(savedTimeText(borrowed)).toBe('40 s of jobs a day, estimated from effects on other tables');
  expect(savedTimeText(NO_VALUE)).toBeNull();
});

test('a row is read as sentences, with the conditions that are not satisfied', () =>
  expect(spokenRow(1, 'sales.orders', plan(), 'USD')).toBe(
    '1. sales.orders: Compact small files. Compacting 3 partitions would turn 1,840 files into 22, takes 4 to 9 min, costs 0.11 USD and pays back in 2 days. Not before: A stream may read the table.',
  ));

test('reasons are words of findings; a code that is not known stays as it is', () =>
  expect(listed(reasonWords({ because: ['small_files', 'file_burst', 'later_code'] }))).toBe(
    'small files, file burst and later_code',
  ));

test('a rewrite names the storage that it adds, an expiry that it cannot be undone', () => {
  expect(riskOf(plan()).risk).toContain('Storage grows by 8.6 GB until the snapshots before it expire.');
  expect(riskOf(plan({ action: 'expire_snapshots' })).undo).toMatch(/cannot be undone/);
});

test('the Python statement is named by the library of the format', () =>
  expect(['iceberg', 'delta', null].map((format) => engineName('python', format))).toEqual([
    ...['PyIceberg', 'deltalake', 'Python'],
  ]));

test('a plan that resolves a finding of the page comes first', () => {
  const [best, other] = [plan({ because: ['small_files'] }), plan({ because: ['snapshots_unbounded'] })];
  expect(planFor([best, other], ['snapshots_unbounded'])).toBe(other);
  expect(planFor([best, other], ['stale'])).toBe(best);
  expect(planFor([], ['stale'])).toBeNull();
});

test('a finding that no plan resolves has the answer of its rule, or of its own name', () => {
  const recommendations = [plan({ because: ['small_files'] })];
  const not_worth = [{ rule: 'expire', text: 'saves 0.27 USD a month, costs 0.11 USD' }];
  const not_known = [{ rule: 'cold_data', missing: 'the price of colder storage' }];
  const advice = { recommendations, not_worth, not_known };
  expect(reasonFor(advice, ['small_files', 'held_bytes'])).toBeNull();
  expect(reasonFor(advice, ['held_bytes'])).toEqual({
    ...{ rule: 'expire', text: 'not worth it: saves 0.27 USD a month, costs 0.11 USD' },
  });
  expect(reasonFor(advice, ['cold_data'])?.text).toBe(
    'not known, because this is missing: the price of colder storage',
  );
  expect(reasonFor(advice, ['file_burst'])).toBeNull();
  expect(reasonFor(advice, [])).toBeNull();
});

const rows = [2, 2, null, 3].map((mid) =>
  maintenanceRow({
    recommendation: plan({
      predicted: {
        ...plan().predicted,
        cost: mid === null ? null : { low: mid / 2, mid, high: mid * 2 },
      },
    }),
  }),
);

test('a budget pays for the first plans; one without a cost is not counted', () => {
  const found = withinBudget(rows, 5);
  expect(found).toMatchObject({ rows: 3, plans: 2, unpriced: 1, all: false });
  expect(budgetSentence(found, 5, 'USD', true)).toBe(
    'With 5.00 USD a day: the first 2 plans, which cost 4.00 USD (2.00 to 8.00 USD). 1 plan has no known cost and is not counted.',
  );
});

test('a budget that pays for nothing, and one that pays for all', () => {
  expect(budgetSentence(withinBudget(rows, 1), 1, 'USD', false)).toBe(
    'With 1.00 USD a day: no plan, the first one costs more.',
  );
  expect(budgetSentence(withinBudget(rows, 7), 7, 'USD', false)).toContain('all 3 plans');
  expect(budgetSentence(withinBudget(rows, 7), 7, 'USD', true)).toContain(
    'the first 3 plans, which cost 7.00 USD (3.50 to 14.00 USD). Plans of the next page may fit, too.',
  );
});

test.each([
  ['5', 5],
  [' 0,50 ', 0.5],
  ['', null],
  ['-1', null],
  ['1e9', null],
  ['five', null],
])('the budget %o is read as %s', (text, value) => expect(readBudget(text)).toBe(value));
