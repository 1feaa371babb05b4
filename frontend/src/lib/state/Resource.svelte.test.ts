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

test('a skeleton is due when patience is over, and only while there is nothing to show', async () => {
  const resource = new Resource<string>(0);
  let answer: (text: string) => void = () => {};
  const first = resource.ask(() => new Promise<string>((done) => (answer = done)));
  expect(resource.slow).toBe(false);
  await expect.poll(() => resource.slow).toBe(true);
  answer('x');
  await first;
  expect(resource.slow).toBe(false);
  const again = resource.ask(() => new Promise<string>((done) => (answer = done)));
  await late(20);
  expect(resource.slow).toBe(false);
  answer('y');
  await again;
  expect(resource.data).toBe('y');
});

test('an answer within patience shows no skeleton', async () => {
  const resource = new Resource<string>(60_000);
  const asked = resource.ask(async () => (await late(20), 'x'));
  await late(5);
  expect(resource.slow).toBe(false);
  await asked;
});
