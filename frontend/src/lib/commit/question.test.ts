import { expect, test } from 'vitest';
import { choiceOf, commitsQuestion, paramsAt, paramsOf } from './question.ts';

const RANGE = { from: 1, to: 2 };
const params = (text: string) => new URLSearchParams(text);

test('without filters everything is requested, 100 rows per page', () =>
  expect(commitsQuestion(choiceOf(params('')), RANGE, null)).toEqual({ ...RANGE, limit: 100 }));
test('requests the filters, the page and the range of the cursor', () =>
  expect(
    commitsQuestion(
      choiceOf(params('operation=append&min=10000&writer=ingest&user=ada&sort=files')),
      RANGE,
      'next',
    ),
  ).toEqual({
    limit: 100,
    operation: 'append',
    min_added_data_files: 10_000,
    writer: 'ingest',
    user: 'ada',
    sort: 'files',
    cursor: 'next',
  }));
test('a choice that is not offered counts as any', () =>
  expect(choiceOf(params('operation=drop&min=7&sort=no'))).toEqual({
    operation: 'any',
    min: '0',
    writer: '',
    user: '',
    sort: 'newest',
  }));
test('another choice begins at the newest commit and keeps the range', () => {
  const next = paramsOf(params('from=5&cursor=c&operation=append&writer=a&user=b'), {
    operation: 'any',
    min: '100',
    writer: '',
    user: '',
    sort: 'files',
  });
  expect(next.toString()).toBe('from=5&min=100&sort=files');
});
test('a further page keeps the choice', () => {
  expect(paramsAt(params('min=100'), 'c').toString()).toBe('min=100&cursor=c');
  expect(paramsAt(params('min=100&cursor=c'), null).toString()).toBe('min=100');
});
