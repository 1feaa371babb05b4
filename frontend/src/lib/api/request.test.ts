import { expect, test } from 'vitest';
import { addressOf } from './request.ts';

test('values of a path are escaped, and what is absent is left out of the query', () => {
  const path = { catalog: 'la/ke', namespace: 'a b', table: '$&' };
  const query = { from: 1, job: 'a+b', cmp: undefined, ref: null, detail: false };
  expect(addressOf('/t/{catalog}/{namespace}/{table}/timeline', { path, query })).toBe(
    '/t/la%2Fke/a%20b/%24%26/timeline?from=1&job=a%2Bb&detail=false',
  );
});

test('each value of a list is a parameter of its own, and a name is escaped as its value', () => {
  expect(addressOf('/a', { query: { state: ['x', 'y'], 'a&b': 'c=d' } })).toBe(
    '/a?state=x&state=y&a%26b=c%3Dd',
  );
  expect(addressOf('/a', { query: { state: [] } })).toBe('/a');
  expect(addressOf('/a', {})).toBe('/a');
});
