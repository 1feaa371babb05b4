// Scenarios on the real demo: its lake, Prometheus, pipeline and server, seen through the system's Chromium.
// LIMNOGRAPH_DEMO_URL points at a demo that runs already; else one is started (and built when there is none).
import { defineConfig } from '@playwright/test';
import { root, shared } from './browser.ts';
import { SESSION } from './stack/session.ts';

const given = process.env['LIMNOGRAPH_DEMO_URL'];
const url = given ?? 'http://127.0.0.1:8797';

export default defineConfig({
  ...shared,
  testDir: 'stack',
  // The loop waits nine minutes for runs of a job: all other scenarios run beside it.
  workers: 2,
  projects: [
    { name: 'loop', testMatch: 'whole-loop.spec.ts' },
    { name: 'pages', testIgnore: 'whole-loop.spec.ts' },
  ],
  globalSetup: './stack/session.ts',
  use: { ...shared.use, baseURL: url, storageState: SESSION },
  webServer: given
    ? undefined
    : {
        command: `${root}/.venv/bin/limnograph demo --dir ${root}/.demo --port ${new URL(url).port} --jobs-every 20`,
        url: `${url}/readyz`,
        timeout: 15 * 60_000,
        stdout: 'pipe',
        stderr: 'pipe',
        gracefulShutdown: { signal: 'SIGTERM', timeout: 20_000 },
      },
});
