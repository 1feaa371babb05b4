import { expect, test } from 'vitest';
import { setupSteps } from './steps.ts';

type Source = Parameters<typeof setupSteps>[0]['sources'][number];
const source = (kind: Source['kind'], status: Source['status'], detail: string | null = null): Source => ({
  ...{ id: kind, kind, status, detail, age_s: null, breaker: null, latency_s: null },
});
const doneOf = (...given: Parameters<typeof setupSteps>) =>
  setupSteps(...given).flatMap(({ id, done }) => (done ? [id] : []));

test('nothing is done on an installation without sources', () => {
  expect(
    doneOf({ sources: [source('catalog', 'absent'), source('pipeline', 'absent')], jobs: 0 }, undefined),
  ).toEqual([]);
});

test('each step is done when the server reports it, and only that step', () => {
  const none = { firing: 0, resolved: 0, unknown: 0 };
  expect(doneOf({ sources: [source('catalog', 'ok')], jobs: 0 }, none)).toEqual(['catalog']);
  expect(doneOf({ sources: [source('meta', 'ok')], jobs: 0 }, none)).toEqual(['catalog']);
  expect(doneOf({ sources: [source('meta', 'ok'), source('catalog', 'error')], jobs: 0 }, none)).toEqual([]);
  expect(doneOf({ sources: [source('pipeline', 'stale')], jobs: 0 }, none)).toEqual(['pipeline']);
  expect(doneOf({ sources: [source('prometheus', 'ok')], jobs: 0 }, none)).toEqual(['prometheus']);
  expect(doneOf({ sources: [], jobs: 3 }, none)).toEqual(['job']);
  expect(doneOf({ sources: [], jobs: 0 }, { ...none, resolved: 1 })).toEqual(['rules']);
});

test('a source that failed is not done and says why', () => {
  const [catalog] = setupSteps(
    { sources: [source('catalog', 'error', 'connection refused')], jobs: 0 },
    undefined,
  );
  expect([catalog?.done, catalog?.detail]).toEqual([false, 'connection refused']);
});
