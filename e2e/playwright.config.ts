// Scenarios on the real demo: its lake, Prometheus, pipeline and server, seen through the system's Chromium.
// LIMNOGRAPH_DEMO_URL points at a demo that runs already; else one is started (and built when there is none).
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@playwright/test';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const given = process.env['LIMNOGRAPH_DEMO_URL'];
const url = given ?? 'http://127.0.0.1:8797';
const chromium =
  process.env['CHROMIUM_PATH'] ??
  ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
    existsSync(path),
  );
if (!chromium) throw new Error('no Chromium found: run `make system`, or set CHROMIUM_PATH');

export default defineConfig({
  testDir: 'specs',
  workers: 1,
  forbidOnly: Boolean(process.env['CI']),
  // the reporter calls a test that needed its second try flaky
  retries: process.env['CI'] ? 1 : 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  use: {
    baseURL: url,
    browserName: 'chromium',
    viewport: { width: 1280, height: 900 },
    // Another zone and locale than the page's: what the page prints must be UTC in spite of them.
    timezoneId: 'America/New_York',
    locale: 'en-GB',
    serviceWorkers: 'block',
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: chromium,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
  webServer: given
    ? undefined
    : {
        command: `${root}/.venv/bin/limnograph demo --dir ${root}/.demo --port ${new URL(url).port}`,
        url: `${url}/readyz`,
        timeout: 15 * 60_000,
        stdout: 'pipe',
        stderr: 'pipe',
        gracefulShutdown: { signal: 'SIGTERM', timeout: 20_000 },
      },
});
