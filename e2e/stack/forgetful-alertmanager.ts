// An Alertmanager that has no alert: as the real one is the next day, or after it lost its storage.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../browser.ts';
import { folder } from './fixtures.ts';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** The program that the demo found too. */
async function program(): Promise<string> {
  const asked = 'from limnograph.demo.processes import alerting; print(alerting.alertmanager())';
  const { stdout } = await promisify(execFile)(join(root, '.venv/bin/python'), ['-c', asked]);
  return stdout.trim();
}

export async function forgetfulAlertmanager(): Promise<{ url: string; stop: () => Promise<void> }> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    await program(),
    [
      ...[`--config.file=${join(folder, 'alertmanager.yml')}`, '--cluster.listen-address='],
      ...[`--storage.path=${mkdtempSync(join(tmpdir(), 'limnograph-e2e-'))}`],
      `--web.listen-address=${url.slice('http://'.length)}`,
    ],
    { stdio: 'ignore' },
  );
  const gone = new Promise<void>((done) => child.once('exit', () => done()));
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** Names of the alerts that an Alertmanager has; undefined while it does not answer. */
export async function alertsOf(url: string): Promise<string[] | undefined> {
  try {
    const answer = await fetch(`${url}/api/v2/alerts`);
    const alerts = (await answer.json()) as { labels: { alertname: string; table?: string } }[];
    return alerts.map(({ labels }) => `${labels.alertname} ${labels.table ?? ''}`);
  } catch {
    return undefined;
  }
}
