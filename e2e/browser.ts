// The browser of both suites: the system's Chromium, in another zone and locale than the pages', so that what they print
// is UTC in spite of both.
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlaywrightTestConfig } from '@playwright/test';
import { CHROMIUM_ARGS } from '../frontend/chromium.ts';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

const chromium =
  process.env['CHROMIUM_PATH'] ??
  ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
    existsSync(path),
  );
if (!chromium) throw new Error('no Chromium found: run `make system`, or set CHROMIUM_PATH');

export const shared: PlaywrightTestConfig = {
  workers: 1,
  forbidOnly: Boolean(process.env['CI']),
  // a test that needed its second try is called flaky, and named at the end of CI
  retries: process.env['CI'] ? 1 : 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list'], [resolve(import.meta.dirname, 'unsteady.ts')]],
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 900 },
    timezoneId: 'America/New_York',
    locale: 'en-GB',
    serviceWorkers: 'block',
    // to record every test takes a quarter more: CI records what failed, when it tries again; a developer says --trace on
    trace: process.env['CI'] ? 'on-first-retry' : 'off',
    launchOptions: {
      executablePath: chromium,
      args: CHROMIUM_ARGS,
    },
  },
};
