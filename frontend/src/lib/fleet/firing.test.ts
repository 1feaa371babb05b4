import { expect, test } from 'vitest';
import type { Alert } from '#lib/alerts/words.ts';
import { firingByTable, rulesOf } from './firing.ts';

const alert = (name: string | null, table: string | null, state: Alert['state'] = 'firing'): Alert =>
  ({
    ...{ alert_name: name, fingerprint: 'f00d', starts_at: 1, ends_at: null, state },
    table: table === null ? null : { catalog: 'lake', table_namespace: 'sales', table },
  }) as Alert;

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
  expect(rulesOf(all)).toBe('2\u00A0Burst, 1\u00A0Stale, 1\u00A0of others');
  expect(rulesOf([])).toBe('');
});
