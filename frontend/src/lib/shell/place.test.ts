import { expect, test } from 'vitest';
import { placeOf } from './place.ts';

const TABLE = { catalog: 'lake', ns: 'sales', table: 'customer~devents' };

test('top pages name themselves and mark their tab', () => {
  const place = placeOf('/status', {});
  expect(place.title).toBe('Status');
  expect(place.tabs.filter((tab) => tab.current).map((tab) => tab.text)).toEqual(['Status']);
});

test('an address without a page has no current tab', () => {
  expect(placeOf(null, {}).tabs.some((tab) => tab.current)).toBe(false);
});

test('an incident leads back to the alerts, whose tab it marks', () => {
  for (const route of ['/alerts/[fingerprint]', '/alerts/resolve']) {
    const { crumbs, tabs } = placeOf(route, {});
    expect(crumbs).toEqual([{ text: 'Alerts', href: '/alerts' }, { text: 'Incident' }]);
    expect(tabs.find((tab) => tab.current)?.href).toBe('/alerts');
  }
});

test('a finding leads back to the list of findings, whose tab it marks', () => {
  const { crumbs, tabs, title } = placeOf('/findings/[finding_id]', {});
  expect(crumbs).toEqual([{ text: 'Findings', href: '/findings' }, { text: 'Finding' }]);
  expect([title, tabs.find((tab) => tab.current)?.href]).toEqual(['Finding', '/findings']);
});

test('a table is reached by its levels, and its name is unescaped', () => {
  const { crumbs, title } = placeOf('/t/[catalog]/[ns]/[table]', TABLE);
  expect(crumbs.map((crumb) => crumb.text)).toEqual(['lake', 'sales', 'customer.events']);
  expect(crumbs[1]?.href).toBe('/?ns=lake.sales');
  expect(crumbs[2]?.href).toBeUndefined();
  expect(title).toBe('sales.customer.events');
});

test('a commit page leads back to its table and shows every digit', () => {
  const route = '/t/[catalog]/[ns]/[table]/commits/[snapshot_id]';
  const { crumbs, tabs } = placeOf(route, { ...TABLE, snapshot_id: '5184430069070270604' });
  expect(crumbs.at(-1)).toEqual({ text: 'Commit 5184430069070270604' });
  expect(crumbs.at(-2)?.href).toBe('/t/lake/sales/customer~devents');
  expect(tabs.find((tab) => tab.current)?.text).toBe('Commits');
});

test('every page of a table is a tab, and range and zone go along', () => {
  const { crumbs, tabs, title } = placeOf(
    '/t/[catalog]/[ns]/[table]/partitions',
    TABLE,
    new URLSearchParams('from=now-6h&tz=UTC&cursor=x&sort=bytes'),
  );
  expect(tabs.map((tab) => tab.text)).toEqual(['Timeline', 'Commits', 'Partitions', 'Schema', 'Refs']);
  expect(tabs.find((tab) => tab.current)?.href).toBe(
    '/t/lake/sales/customer~devents/partitions?from=now-6h&tz=UTC',
  );
  expect(tabs[0]?.href).toBe('/t/lake/sales/customer~devents?from=now-6h&tz=UTC');
  expect([crumbs.at(-1)?.text, title]).toEqual(['Partitions', 'Partitions · sales.customer.events']);
});
