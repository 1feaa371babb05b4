// Every page for everybody: light, dark, forced colours, 320 px, no motion, printed.
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { NIGHT, TABLE } from './moment.ts';
import { VIEWS } from './pages.ts';
import { sideways, WAYS } from './ways.ts';

/** What still moves. */
const moving = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('*')]
      .filter((each) => {
        const { transitionDuration, animationDuration } = getComputedStyle(each);
        return [transitionDuration, animationDuration].some((text) => parseFloat(text) > 0.01);
      })
      .map((each) => each.outerHTML.slice(0, 80)),
  );

for (const view of VIEWS)
  test(`${view.name}: nothing to find in five ways of looking`, async ({ page }) => {
    test.slow(); // axe runs five times
    await changeAnswer<{ rows?: unknown[] }>(page, /\/commits\?/, (body) => {
      body.rows = body.rows?.slice(0, 12);
    });
    await page.goto(view.path);
    for (const { width, ...media } of Object.values(WAYS)) {
      await page.emulateMedia({ colorScheme: null, forcedColors: null, reducedMotion: null, ...media });
      await page.setViewportSize({ width: width ?? 1280, height: 900 });
      await view.drawn(page);
      await accessible(page);
      expect(await sideways(page)).toBeLessThanOrEqual(0);
      if (media.reducedMotion) expect(await moving(page)).toEqual([]);
    }
  });

test('Everywhere', async ({ page }) => {
  test.slow(); // it walks through every page with the Tab key
  for (const view of VIEWS) {
    await page.goto(view.path);
    await view.drawn(page);
    const header = (await page.locator('header').first().boundingBox())!;
    for (let i = 0; i < 25; i += 1) {
      await page.keyboard.press('Tab');
      const focus = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const { top, bottom } = element.getBoundingClientRect();
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return {
          inside: element.closest('header') !== null || element === document.body,
          ...{ top, bottom, ring: outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 },
          html: element.outerHTML.slice(0, 100),
        };
      });
      if (focus.inside) continue;
      expect(focus.ring, `no focus ring: ${focus.html}`).toBe(true);
      expect(focus.bottom, `under the header: ${focus.html}`).toBeGreaterThan(header.height);
    }
  }
  await page.goto(`${TABLE}?${NIGHT}`);
  await VIEWS[1]!.drawn(page);
  await page.keyboard.press('Escape');
  await page.locator('body').press('?');
  await expect(page.getByRole('dialog')).toHaveAccessibleName(/.+/);
  await page.keyboard.press('Escape');
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('img', { name: /^Data files/ })).toBeVisible();
});
