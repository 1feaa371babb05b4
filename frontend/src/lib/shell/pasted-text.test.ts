import { expect, test } from 'vitest';
import { matchEntries, recognise } from './pasted-text.ts';

const NOW = Date.UTC(2026, 10, 21, 6);
const TABLE = { catalog: 'lake', namespace: 'sales', table: 'orders' };
const first = (text: string, table: typeof TABLE | undefined = TABLE) => recognise(text, table, NOW)[0];

test('an id is a commit of the open table, every digit kept', () => {
  expect(first('5184430069070270604')?.href).toBe('/t/lake/sales/orders/commits/5184430069070270604');
  expect(first('-7')?.href).toBe('/t/lake/sales/orders/commits/-7');
});
test('a number that may be an instant is offered as both', () => {
  const found = recognise('1795230252000', TABLE, NOW);
  expect(found.map(({ id }) => id)).toEqual(['commit', 'around']);
  expect(found[1]?.show).toEqual({ from: '1795228452000', to: '1795232052000' });
});
test.each([
  ['https://lim.example/t/lake/sales/orders?from=now-6h', '/t/lake/sales/orders?from=now-6h'],
  ['/t/lake/sales/orders/commits/51', '/t/lake/sales/orders/commits/51'],
  ['https://lim.example/?ns=lake.sales', '/?ns=lake.sales'],
  ['/a?alertname=SmallFiles&table=a.b', '/alerts/resolve?alertname=SmallFiles&table=a.b'],
  ['9266ef3da838ad95', '/alerts/9266ef3da838ad95'],
  ['https://lim.example/alerts/ab12?starts_at=5', '/alerts/ab12?starts_at=5'],
  ['lake.sales.eu.orders', '/t/lake/sales.eu/orders'],
  ['lake/sales/orders', '/t/lake/sales/orders'],
])('%s leads to %s', (text, href) => expect(first(text)?.href).toBe(href));
test.each([
  'javascript:alert(1)',
  'https://evil.example/',
  '//evil.example/t/x',
  'data:text/html,x',
  'orders',
  'a b.c d.e',
  '/nowhere',
])('%s leads nowhere', (text) => expect(recognise(text, undefined, NOW)).toEqual([]));
test('a range of Grafana is shown', () =>
  expect(first('{"from":"now-6h","to":"now"}')).toMatchObject({
    id: 'range',
    show: { from: 'now-6h', to: 'now' },
  }));
test('an instant is shown with half an hour on each side', () =>
  expect(first('2026-11-21T03:04:12Z')?.show).toEqual({ from: '1795228452000', to: '1795232052000' }));
test('words match where words begin', () => {
  const entries = ['Last 6 hours', 'Copy link', 'sales.customer_events'].map((label) => ({
    id: label,
    label,
  }));
  const ids = (text: string) => matchEntries(entries, text).map(({ id }) => id);
  expect(ids('6')).toEqual(['Last 6 hours']);
  expect(ids('link copy')).toEqual(['Copy link']);
  expect(ids('cust')).toEqual(['sales.customer_events']);
  expect(ids('ink')).toEqual([]);
  expect(ids('')).toHaveLength(3);
});
