import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { fetchTwice, pauseOf } from './retry.ts';

let asked: string[] = [];
let close = () => {};
afterEach(() => close());

/** A server that gives these answers in turn, the last of them for ever. */
async function serve(...answers: [status: number, headers?: Record<string, string>][]): Promise<string> {
  asked = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const [status, headers] = answers[Math.min(asked.length, answers.length - 1)]!;
    asked.push(request.method ?? '');
    response.writeHead(status, headers).end(`answer ${asked.length}`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  close = () => (server.closeAllConnections(), server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test.each([500, 504])('%i is retried once, and the second response counts', async (status) => {
  const url = await serve([status], [200]);
  const answer = await fetchTwice(new Request(url));
  expect([answer.status, await answer.text(), asked]).toEqual([200, 'answer 2', ['GET', 'GET']]);
});

test('a lasting failure is requested twice, not more', async () => {
  const answer = await fetchTwice(new Request(await serve([500])));
  expect([answer.status, asked.length]).toEqual([500, 2]);
});

test.each([
  ['a refusal', 404, 'GET'],
  ['what is not implemented', 501, 'GET'],
  ['what changes something', 503, 'POST'],
])('%s is requested once', async (_, status, method) => {
  const answer = await fetchTwice(new Request(await serve([status], [200]), { method }));
  expect([answer.status, asked]).toEqual([status, [method]]);
});

test('a short Retry-After is honoured, a long one is reported at once', async () => {
  const url = await serve([503, { 'retry-after': '1' }], [200]);
  const began = performance.now();
  expect((await fetchTwice(new Request(url))).status).toBe(200);
  expect(performance.now() - began).toBeGreaterThan(950);
  const busy = await serve([503, { 'retry-after': '120' }], [200]);
  const answer = await fetchTwice(new Request(busy));
  expect([answer.status, await answer.text(), asked.length]).toEqual([503, 'answer 1', 1]);
});

test('aborted during the pause: no retry, and it is an abort', async () => {
  const gone = new AbortController();
  const asking = fetchTwice(new Request(await serve([500]), { signal: gone.signal }));
  while (asked.length === 0) await new Promise((done) => setTimeout(done, 5));
  setTimeout(() => gone.abort(), 50);
  await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
  await new Promise((done) => setTimeout(done, 400));
  expect(asked.length).toBe(1);
});

test('Retry-After is seconds or a date; what is neither counts as none', () => {
  expect([null, '0', '2', 'soon'].map(pauseOf)).toEqual([300, 300, 2000, 300]);
  const later = pauseOf(new Date(Date.now() + 60_000).toUTCString());
  expect(later).toBeGreaterThan(57_000);
  expect(pauseOf(new Date(0).toUTCString())).toBe(300);
});
