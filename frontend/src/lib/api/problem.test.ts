import { expect, test } from 'vitest';
import { ApiProblem, problemFrom, problemOf } from './problem.ts';

const BODY = {
  type: 'source-timeout',
  title: 'Late',
  status: 503,
  detail: 'No answer in 8 s.',
  request_id: 'r1',
};

test('problem details keep their words and the id to quote', () => {
  const found = problemOf(503, BODY);
  expect(found).toMatchObject({
    kind: 'source-timeout',
    title: 'Late',
    detail: 'No answer in 8 s.',
    requestId: 'r1',
  });
  expect(found.field).toBeNull();
});

test('a page of a proxy is not mistaken for our answer', () => {
  expect(problemOf(502, '<html>Bad gateway</html>')).toMatchObject({ kind: 'bad-answer', status: 502 });
});

test('distinguishes a response that is not JSON from a network failure', () => {
  expect(problemFrom(new SyntaxError('Unexpected token')).kind).toBe('bad-answer');
  expect(problemFrom(new TypeError('Failed to fetch')).kind).toBe('offline');
});

test('an aborted request is not a problem', () => {
  expect(() => problemFrom(new DOMException('gone', 'AbortError'))).toThrow('gone');
});

test('a problem passes through as it is', () => {
  const known = new ApiProblem('not-found', 404, 'Not found', 'there is no table x');
  expect(problemFrom(known)).toBe(known);
});
