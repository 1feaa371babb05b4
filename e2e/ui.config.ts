// The built dashboard on recorded answers: same clock, same numbers, every time. `ui/stub.ts` serves both.
import { defineConfig } from '@playwright/test';
import { shared } from './browser.ts';

export default defineConfig({
  ...shared,
  testDir: 'ui',
  globalSetup: './ui/headers.ts',
  workers: 2,
  fullyParallel: true,
  snapshotPathTemplate: '{testDir}/baselines/{arg}{ext}',
  expect: {
    ...shared.expect,
    toHaveScreenshot: { animations: 'disabled', caret: 'hide', scale: 'css', maxDiffPixelRatio: 0.01 },
  },
});
