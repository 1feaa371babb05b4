// Findings of the reference lakehouse, which must be running: LIMNOGRAPH_LAKEHOUSE_URL is its server's address. Its check
// calls this (examples/lakehouse/check/browser.py).
import { defineConfig } from '@playwright/test';
import { shared } from './browser.ts';

const url = process.env['LIMNOGRAPH_LAKEHOUSE_URL'];
if (!url) throw new Error('LIMNOGRAPH_LAKEHOUSE_URL is not set: run `make lakehouse-check`');

export default defineConfig({
  ...shared,
  testDir: 'lakehouse',
  // a machine that runs a lakehouse draws slowly
  timeout: 180_000,
  expect: { timeout: 60_000 },
  use: { ...shared.use, baseURL: url },
});
