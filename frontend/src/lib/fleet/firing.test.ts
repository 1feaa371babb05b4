import { expect, test } from 'vitest';
import type { AlertRow } from '#lib/alerts/words.ts';
import { firingByTable, rulesOf, withoutFlagged } from './firing.ts';

const alert = (
  name: string | null,
  table: string | null,
  state: AlertRow['state'] = 'firing',
  severity: string | null = null,
): AlertRow =>
  ({
    ...{ alert_name: name, fingerprint: 'f00d', starts_at: 1, ends_at: null, state, severity },
    table: table === null ? null : { catalog: 'lake', table_namespace: 'sales', table },
  }) as AlertRow;

test('a table has the first of its alerts that fire; what is over or names no table stays out', () => {
  const found = firingByTable([
    alert('Burst', 'orders'),
    alert('Stale', 'orders'),
    alert('Stale', 'carts', 'resolved'),
    alert('Down', null),
  ]);
  expect([...found].map(([path, { alert_name }]) => [path, alert_name])).toEqual([
    ['/t/lake/sales/orders', 'Burst'],
  ]);
});

test('rules are counted, those that fire most first, one without a name by its fingerprint', () => {
  const all = [alert('Stale', 'a'), alert('Burst', 'a'), alert('Burst', 'b'), alert(null, 'c')];
  expect(rulesOf([...all, alert('Old', 'd', 'resolved')], 3)).toBe('2\u00A0Burst, 1\u00A0Stale, 1\u00A0f00d');
  expect(rulesOf(all, 2)).toBe('2\u00A0Burst, 1\u00A0Stale, 1\u00A0other');
  expect(rulesOf([])).toBe('');
});

test('a critical rule is never among the others, however many of the mild ones fire', () => {
  const mild = ['A', 'B', 'C'].flatMap((name) => [alert(name, 'a'), alert(name, 'b')]);
  const told = rulesOf([...mild, alert('Burst', 'c', 'firing', 'critical')]);
  expect(told).toMatch(/^1\u00A0Burst, 2\u00A0A, 2\u00A0B, 2\u00A0other$/);
});

test('an alert of a table that is flagged anyway is not counted again', () => {
  const firing = firingByTable([alert('Burst', 'orders'), alert('Stale', 'carts')]);
  const orders = { catalog: 'lake', namespace: 'sales', table: 'orders' };
  expect(withoutFlagged(firing, [orders]).map(([path]) => path)).toEqual(['/t/lake/sales/carts']);
});
