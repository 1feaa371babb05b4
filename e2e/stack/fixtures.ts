// What every scenario starts with: the story's ids and times, and a page whose console must stay silent.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type APIRequestContext, test as base } from '@playwright/test';
import { authorized, DEMO } from '../demo-token.ts';

export { expect } from '@playwright/test';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const folder = DEMO;

export interface Story {
  table: string;
  files_before: number;
  files_after: number;
  burst: { at: number; snapshot_id: string; added_data_files: number };
  slowdown: { job_name: string; start: number; end: number; usual_seconds: number; slow_seconds: number };
  repair: { at: number; snapshot_id: string };
}

interface Fixtures {
  /** Errors and warnings of the console and uncaught errors so far; a scenario that expects some empties it. */
  complaints: string[];
  /** Absolute range around the story, as a query. */
  around: string;
  /** The fleet page that has the story: as it opens, while that was within its last 24 hours. */
  fleet: string;
}
interface WorkerFixtures {
  story: Story;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  story: [
    // Playwright demands the empty pattern
    async ({}, use) => use(JSON.parse(readFileSync(join(folder, 'story.json'), 'utf8')) as Story),
    { scope: 'worker' },
  ],
  complaints: [
    async ({ page }, use) => {
      const seen: string[] = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) seen.push(message.text());
      });
      page.on('pageerror', (error) => seen.push(String(error)));
      await use(seen);
      if (seen.length) throw new Error(`the console complained:\n${seen.join('\n')}`);
    },
    { auto: true },
  ],
  around: async ({ story }, use) => {
    const hour = 3_600_000;
    await use(`from=${story.burst.at - 3 * hour}&to=${story.burst.at + 3 * hour}`);
  },
  fleet: async ({ story, around }, use) => {
    const hour = 3_600_000;
    await use(Date.now() - story.burst.at < 23 * hour ? '/' : `/?${around}`);
  },
});

/** URL path of the story's table page. */
export const tablePath = (story: Story): string => `/t/${story.table.split('.').join('/')}`;

/**
 * Closes open breakers, as a user does who knows why they opened: a burst after a repair slows its job down again, and that
 * stops the rule.
 */
export async function closeBreakers(api: APIRequestContext): Promise<void> {
  const path = '/api/v1/maintenance/breakers';
  const { breakers } = (await (await api.get(path)).json()) as { breakers: { key: string }[] };
  for (const { key } of breakers) await api.post(`${path}/close`, { headers: authorized(), data: { key } });
}

/** The command itself. */
export const limnograph = join(root, '.venv/bin/limnograph');

/** A server of its own on the demo's lake, without login; `change` edits its settings before it starts. */
export async function serve(
  change: (toml: string) => string,
): Promise<{ url: string; settings: string; stop: () => Promise<void> }> {
  const place = mkdtempSync(join(tmpdir(), 'limnograph-e2e-'));
  const settings = join(place, 'limnograph.toml');
  const demo = readFileSync(join(folder, 'limnograph.toml'), 'utf8');
  writeFileSync(settings, change(demo.replace('mode = "tokens"', 'mode = "none"')));
  const child = spawn(limnograph, ['serve', '--config', settings, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await address(child);
  const gone = new Promise<void>((done) => child.once('exit', () => done()));
  return {
    url,
    settings,
    stop: async () => {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function address(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const found = /http:\/\/\S+?(?=\/?(\s|$))/.exec(line);
    if (found) return found[0];
  }
  throw new Error('the server ended before it was ready');
}

/** A gate in front of a TCP service that can be shut: connections are refused, as if the service had been stopped. */
export async function gate(target: URL): Promise<{ url: string; shut: () => Promise<void> }> {
  const open = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = createConnection(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => open.delete(socket));
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const socket of open) socket.destroy();
      }),
  };
}
