import { expect, test } from 'vitest';
import { maintenanceRow, plan } from '#lib/maintenance/fixtures.ts';
import { plansCsv } from './export.ts';
import { ANY, choiceOf, cursorHref, isNarrowed, queueHref, queueQuestion, unreadOf } from './question.ts';

const params = (text: string) => new URLSearchParams(text);

test('without filters the best plans are requested, 50 a page', () =>
  expect(queueQuestion(choiceOf(params('')), null)).toEqual({ limit: 50 }));

test('filters and cursor are requested, the budget is not', () =>
  expect(
    queueQuestion(choiceOf(params('rule=compact&action=optimize&owner=ada&q= orders &budget=5')), 'next'),
  ).toEqual({
    ...{ limit: 50, rule: 'compact', action: 'optimize', owner: 'ada', q: 'orders' },
    cursor: 'next',
  }));

test('another choice begins at the first page and keeps parameters of others', () => {
  expect(queueHref(params('cursor=c&tz=UTC&rule=compact'), { owner: 'ada' })).toBe(
    '/maintenance?tz=UTC&rule=compact&owner=ada',
  );
  expect(queueHref(params('rule=compact&budget=5'), ANY)).toBe('/maintenance?budget=5');
  expect(cursorHref(params('rule=compact&cursor=c'), null)).toBe('/maintenance?rule=compact');
});

test('a budget narrows nothing; one that is no amount is named', () => {
  expect(isNarrowed(choiceOf(params('budget=5')))).toBe(false);
  expect(isNarrowed(choiceOf(params('q=a')))).toBe(true);
  expect(unreadOf(params('budget=lots'))).toEqual(['budget']);
  expect(choiceOf(params('budget=lots')).budget).toBe('');
});

test('the export has unknown values empty and texts that no spreadsheet computes', () => {
  const row = maintenanceRow({
    table: '=HYPERLINK("x")',
    recommendation: plan({ predicted: { ...plan().predicted, cost: null, bytes_freed: null } }),
  });
  const [head = '', line = ''] = plansCsv([row], 'USD').split('\r\n');
  const at = (name: string) => head.split(',').indexOf(name);
  expect(line).not.toMatch(/(^|,)"?=/);
  expect(at('cost')).toBeGreaterThan(0);
  expect(line).toContain('streaming_reader');
});
