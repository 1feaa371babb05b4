import { expect, test } from 'vitest';
import { findUnknownValues } from './unknown-values.ts';

const OFFERED = { sort: ['name', 'bytes'], skip: (text: string) => /^\d+$/.test(text) };

test('a value that is not offered is named, others and those that are absent are not', () => {
  const of = (query: string) => findUnknownValues(new URLSearchParams(query), OFFERED);
  expect(of('sort=name&skip=50&other=x')).toEqual([]);
  expect(of('')).toEqual([]);
  expect(of('sort=&skip=')).toEqual([]);
  expect(of('sort=Name&skip=5')).toEqual(['sort']);
  expect(of('skip=-1&sort=banana')).toEqual(['sort', 'skip']);
});
