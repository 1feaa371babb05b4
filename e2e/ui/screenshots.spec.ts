// Pictures for the documents, of pages that are the same every time. `make screenshots` keeps them in docs/screenshots;
// any other run takes them too, so that what they need never breaks, and leaves them with the test's results.
import { join } from 'node:path';
import { root } from '../browser.ts';
import { expect, test } from './fixtures.ts';
import { VIEWS } from './pages.ts';

const SHOWN = [
  'fleet',
  'table',
  'commit',
  'partitions',
  'schema',
  'incident',
  'alerts',
  'findings',
  'maintenance',
  'plan',
  'effect ledger',
  'at risk',
];
const SIZES = [
  { width: 1280, height: 860 },
  { width: 390, height: 844 },
];
const kept = process.env['LIMNOGRAPH_SCREENSHOTS'];

for (const view of VIEWS.filter(({ name }) => SHOWN.includes(name)))
  test(`picture of the ${view.name} page, light and dark, wide and narrow`, async ({ page }, info) => {
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await page.goto(view.path);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await view.drawn(page);
        // it comes after everything else, on pages that have one
        if (view.name === 'table')
          await expect(page.getByRole('slider', { name: 'Start of the range' })).toBeVisible();
        const name = `${view.name.replaceAll(' ', '-')}-${colorScheme}-${size.width}.png`;
        const path = kept ? join(root, 'docs/screenshots', name) : info.outputPath(name);
        await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
      }
    }
  });
