import { expect, test } from 'vitest';
import { latency } from './latency.ts';
import { sourceName, sourceTone } from './sources.ts';

const source = (id: string, kind: 'prometheus' | 'meta' | 'catalog') =>
  ({ id, kind, status: 'ok', age_s: 1, detail: null, breaker: null, latency_s: null }) as const;

test('a source is named by its kind, and by its own name where there can be several', () => {
  expect(sourceName(source('meta', 'meta'))).toBe('Meta');
  expect(sourceName(source('prometheus', 'prometheus'))).toBe('Prometheus');
  expect(sourceName(source('main', 'prometheus'))).toBe('Prometheus');
  expect(sourceName(source('eu-west', 'prometheus'))).toBe('Prometheus eu-west');
  expect(sourceName(source('catalog:lake', 'catalog'))).toBe('Catalog lake');
});

test('behind is a warning, failed is critical', () => {
  expect(sourceTone({ ...source('meta', 'meta'), status: 'stale' })).toBe('warn');
  expect(sourceTone({ ...source('meta', 'meta'), status: 'error' })).toBe('crit');
});

test('a latency has the unit that fits its size', () => {
  const latencies = [null, 0.0004, 0.0124, 1.44].map((latency_s) =>
    latency({ ...source('meta', 'meta'), latency_s }),
  );
  expect(latencies).toEqual([null, '<1 ms', '12 ms', '1.4 s']);
});
