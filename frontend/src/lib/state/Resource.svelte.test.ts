import { expect, test } from 'vitest';
import { ApiProblem } from '#lib/api/problem.ts';
import { Resource } from './Resource.svelte.ts';

const late = (ms: number) => new Promise((done) => setTimeout(done, ms));

test('a late answer of an older question is dropped', async () => {
  const resource = new Resource<string>();
  const slow = resource.ask(async () => (await late(60), 'old'));
  await resource.ask(() => Promise.resolve('new'));
  await slow;
  expect(resource.data).toBe('new');
  expect(resource.pending).toBe(false);
});

test('an older question is aborted, and its abort is no problem', async () => {
  const resource = new Resource<string>();
  const aborted = resource.ask(
    (signal) => new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason))),
  );
  await resource.ask(() => Promise.resolve('new'));
  await expect(aborted).resolves.toBeUndefined();
  expect(resource.problem).toBeUndefined();
});

test('old data stay when a newer question fails, and the problem goes with the next answer', async () => {
  const resource = new Resource<string>();
  await resource.ask(() => Promise.resolve('first'));
  await resource.ask(() => Promise.reject(new ApiProblem('source-timeout', 503, 'Late', 'No answer')));
  expect(resource.data).toBe('first');
  expect(resource.problem?.kind).toBe('source-timeout');
  await resource.ask(() => Promise.resolve('second'));
  expect(resource.problem).toBeUndefined();
});

test('a skeleton is due only after 150 ms, and only while there is nothing to show', async () => {
  const resource = new Resource<string>();
  const first = resource.ask(async () => (await late(260), 'x'));
  await late(60);
  expect(resource.slow).toBe(false);
  await late(140);
  expect(resource.slow).toBe(true);
  await first;
  expect(resource.slow).toBe(false);
  const again = resource.ask(async () => (await late(220), 'y'));
  await late(200);
  expect(resource.slow).toBe(false);
  await again;
});
