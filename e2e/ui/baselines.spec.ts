// What lanes and tokens look like, as pictures: small ones, without text, so that no font of a machine is in them.
// A change that is wanted: `make e2e E2E_ARGS="baselines --update-snapshots"`, and look at what changed.
import type { Page } from '@playwright/test';
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { NIGHT, TABLE } from './moment.ts';
import { VIEWS } from './pages.ts';

const LANES = ['job_duration', 'data_files', 'file_size'];
const THEMES = ['light', 'dark'] as const;
const TOKENS = [
  ...['bg', 's1', 's2', 'canvas', 'panel', 'hover', 'text', 'muted', 'control', 'hairline', 'grid', 'accent'],
  ...['focus', 'ok', 'warn', 'crit', 'unknown', 'tint-crit', 'tint-warn', 'tint-ok', 'tint-accent'],
  ...['series-job', 'series-files', 'series-deletes', 'series-bytes', 'series-fresh', 'series-base'],
  ...[
    'op-append',
    'op-overwrite',
    'op-delete',
    'op-replace',
    'heat-0',
    'heat-1',
    'heat-2',
    'heat-3',
    'heat-4',
  ],
];
/** A constructed sheet: the policy forbids a style element. */
const styled = (page: Page, css: string) =>
  page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets.push(sheet);
  }, css);

test.use({ viewport: { width: 800, height: 900 } });

test('lanes look as they did, light and dark', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`${TABLE}?${NIGHT}`);
  await new TimelinePage(page).drawn();
  // the explanation comes after the lanes, and flags one of them
  await expect(page.locator('[data-lane=job_duration] [data-flag]')).toHaveCount(2);
  await styled(page, '[data-lane] text { display: none } .gutter { visibility: hidden }');
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const lane of LANES)
      await expect(page.locator(`[data-lane=${lane}] svg.drawing`)).toHaveScreenshot(
        `${lane}-${colorScheme}.png`,
      );
  }
});

test('tokens look as they did, light and dark', async ({ page }) => {
  const settings = VIEWS.find(({ name }) => name === 'settings')!;
  await page.goto(settings.path);
  await settings.drawn(page);
  await page.evaluate((tokens) => {
    const sheet = document.createElement('div');
    sheet.id = 'swatches';
    for (const token of tokens) {
      const swatch = sheet.appendChild(document.createElement('i'));
      swatch.style.setProperty('background', `var(--${token})`);
    }
    document.body.replaceChildren(sheet);
  }, TOKENS);
  await styled(
    page,
    '#swatches { display: grid; grid-template-columns: repeat(12, 24px); width: 288px } i { height: 24px }',
  );
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator('#swatches')).toHaveScreenshot(`tokens-${colorScheme}.png`, {
      // flat colours: a token that moved by a little counts
      threshold: 0.02,
      maxDiffPixelRatio: 0,
    });
  }
});
