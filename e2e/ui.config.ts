// The built dashboard on recorded answers: same clock, same numbers, every time. `ui/stub.ts` serves both.
import { defineConfig } from '@playwright/test';
import { shared } from './browser.ts';

export default defineConfig({
  ...shared,
  testDir: 'ui',
  globalSetup: './ui/headers.ts',
  // scenarios wait for timers of the page, too: one more than the cores of a small machine keeps those busy
  workers: 3,
  fullyParallel: true,
  snapshotPathTemplate: '{testDir}/baselines/{arg}{ext}',
  expect: {
    ...shared.expect,
    toHaveScreenshot: { animations: 'disabled', caret: 'hide', scale: 'css', maxDiffPixelRatio: 0.01 },
  },
});
