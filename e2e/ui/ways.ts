// The five ways of looking at a page, and whether it scrolls sideways then.
import type { Page } from '@playwright/test';

export const WAYS: Record<string, Parameters<Page['emulateMedia']>[0] & { width?: number }> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  'forced colours': { forcedColors: 'active' },
  '320 px': { width: 320 },
  'reduced motion': { reducedMotion: 'reduce' },
};

/** How far a page scrolls sideways, in px. */
export const sideways = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
