import { expect, test } from 'vitest';
import { placeOf } from './place.ts';

const TABLE = { catalog: 'lake', ns: 'sales', table: 'customer~devents' };

test('top pages name themselves and mark their tab', () => {
  const place = placeOf('/status', {});
  expect(place.title).toBe('Status');
  expect(place.product.filter((tab) => tab.current).map((tab) => tab.text)).toEqual(['Status']);
});

test('an address without a page has no current tab', () => {
  expect(placeOf(null, {}).product.some((tab) => tab.current)).toBe(false);
});

test('an incident leads back to the alerts, whose tab it marks', () => {
  for (const route of ['/alerts/[fingerprint]', '/alerts/resolve']) {
    const { crumbs, product } = placeOf(route, {});
    expect(crumbs).toEqual([
      { text: 'Alerts', href: '/alerts' },
      { text: 'Incident', subject: true },
    ]);
    expect(product.find((tab) => tab.current)?.href).toBe('/alerts');
  }
});

test('a finding leads back to the list of findings, whose tab it marks', () => {
  const { crumbs, product, title } = placeOf('/findings/[finding_id]', {});
  expect(crumbs).toEqual([
    { text: 'Findings', href: '/findings' },
    { text: 'Finding', subject: true },
  ]);
  expect([title, product.find((tab) => tab.current)?.href]).toEqual(['Finding', '/findings']);
});

test('effects of maintenance lead back to its queue, whose tab they mark', () => {
  const { crumbs, product, title } = placeOf('/maintenance/ledger', {});
  expect(crumbs).toEqual([
    { text: 'Maintenance', href: '/maintenance' },
    { text: 'Effects', subject: true },
  ]);
  expect([title, product.find((tab) => tab.current)?.href]).toEqual(['Effects', '/maintenance']);
});

test('a table is reached by its levels, and its name is unescaped', () => {
  const { crumbs, title } = placeOf('/t/[catalog]/[ns]/[table]', TABLE);
  expect(crumbs.map((crumb) => crumb.text)).toEqual(['lake', 'sales', 'customer.events']);
  expect(crumbs[1]?.href).toBe('/?ns=lake.sales');
  expect(crumbs[2]?.href).toBeUndefined();
  expect(title).toBe('sales.customer.events');
});

test('a commit page leads back to its table, and its title shows every digit', () => {
  const route = '/t/[catalog]/[ns]/[table]/commits/[snapshot_id]';
  const { crumbs, tabs, title } = placeOf(route, { ...TABLE, snapshot_id: '5184430069070270604' });
  expect(title).toBe('Commit 5184430069070270604 · sales.customer.events');
  expect(crumbs.at(-1)).toEqual({
    text: 'customer.events',
    subject: true,
    href: '/t/lake/sales/customer~devents',
  });
  expect(tabs.find((tab) => tab.current)?.text).toBe('Commits');
});

test('pages of the product are the same on a table, where none of them is open', () => {
  const { product } = placeOf('/t/[catalog]/[ns]/[table]', TABLE);
  expect(product.map(({ href }) => href)).toEqual(placeOf('/', {}).product.map(({ href }) => href));
  expect(product.some(({ current }) => current)).toBe(false);
});

test('every page of a table is a tab, and range and zone go along', () => {
  const { crumbs, tabs, title } = placeOf(
    '/t/[catalog]/[ns]/[table]/partitions',
    TABLE,
    new URLSearchParams('from=now-6h&tz=UTC&cursor=x&sort=bytes'),
  );
  expect(tabs.map((tab) => tab.text)).toEqual([
    'Timeline',
    'Commits',
    'Reads',
    'Columns',
    'Partitions',
    'Schema',
    'Refs',
    'Maintenance',
  ]);
  expect(tabs.find((tab) => tab.current)?.href).toBe(
    '/t/lake/sales/customer~devents/partitions?from=now-6h&tz=UTC',
  );
  expect(tabs[0]?.href).toBe('/t/lake/sales/customer~devents?from=now-6h&tz=UTC');
  expect([crumbs.at(-1)?.text, title]).toEqual(['customer.events', 'Partitions · sales.customer.events']);
});
