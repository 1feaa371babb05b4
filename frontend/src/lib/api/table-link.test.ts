import { expect, test } from 'vitest';
import { keepParams, momentHref } from './table-link.ts';

test('a page keeps range, instant, zone and what it does not know of another', () => {
  const query = new URLSearchParams(
    'from=now-6h&tz=UTC&at=5&extra=1&cursor=abc&partition=d%3D1&sort=bytes&dir=asc',
  );
  expect(keepParams(query)).toBe('?from=now-6h&tz=UTC&at=5&extra=1');
  expect(keepParams(new URLSearchParams('cursor=abc'))).toBe('');
});

test('a moment on the timeline is in the middle of its range, in the reader’s zone', () => {
  const href = momentHref('/t/lake/sales/orders', 20_000_000, new URLSearchParams('tz=UTC&c=7&cmp=1d'));
  expect(href).toBe('/t/lake/sales/orders?tz=UTC&from=9200000&to=30800000&at=20000000');
});
