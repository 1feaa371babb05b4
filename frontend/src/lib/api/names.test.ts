import { describe, expect, test } from 'vitest';
import { commitPath, fromSegments, tableLabel, tablePath, toSegments } from './names.ts';

const ORDINARY = { catalog: 'lake', namespace: 'sales', table: 'orders' };

describe('names of tables in URLs', () => {
  test('ordinary names look as they are', () => {
    expect(tablePath(ORDINARY)).toBe('/t/lake/sales/orders');
    expect(tableLabel(ORDINARY)).toBe('sales.orders');
  });

  test.each([
    { catalog: 'lake', namespace: 'a.b', table: 'c' },
    { catalog: 'my.lake', namespace: 'x~dy', table: 'we.ird/na~me' },
    { catalog: 'l', namespace: 'a/b', table: 'ümläut 日本 %2F' },
    { catalog: '~s', namespace: '~~', table: '~d' },
  ])('$catalog $namespace $table survives the way to an address and back', (ref) => {
    const path = tablePath(ref).split('/').slice(2).map(decodeURIComponent);
    expect(path).toHaveLength(3);
    const [catalog = '', ns = '', table = ''] = path;
    expect(fromSegments({ catalog, ns, table })).toEqual(ref);
  });

  test('dots and slashes of a table name never become levels', () => {
    expect(toSegments({ ...ORDINARY, table: 'a.b/c~' }).table).toBe('a~db~sc~~');
  });

  test('the address keeps all 19 digits of a snapshot id', () => {
    expect(commitPath(ORDINARY, '5184430069070270604')).toBe(
      '/t/lake/sales/orders/commits/5184430069070270604',
    );
  });
});
