// What opens on a page: it has a name, axe finds nothing in it however one looks, Escape closes it and the focus is back.
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { expect, test } from './fixtures.ts';
import { VIEWS } from './pages.ts';
import { sideways, WAYS } from './ways.ts';

const press = (name: RegExp | string) => async (page: Page) => {
  const button = page.getByRole('button', { name }).first();
  await button.focus();
  await page.keyboard.press('Enter');
};
interface Opener {
  readonly what: string;
  readonly on: string;
  readonly open: (page: Page) => Promise<void>;
  /** Its button is not on a narrow page. */
  readonly wideOnly?: boolean;
}
const OPENERS: readonly Opener[] = [
  { what: 'palette', on: 'fleet', open: (page) => page.keyboard.press('ControlOrMeta+k') },
  { what: 'shortcuts', on: 'fleet', open: (page) => page.locator('body').press('?') },
  { what: 'range', on: 'fleet', open: press(/UTC.*24 h/) },
  { what: 'source', on: 'fleet', open: press(/^Prometheus/), wideOnly: true },
  { what: 'saved views', on: 'fleet', open: press(/^Views/) },
  { what: 'lanes', on: 'table', open: press('Lanes') },
  { what: 'exports', on: 'table', open: press('Share') },
];

for (const { what, on, open, wideOnly } of OPENERS)
  test(`${what}: named, nothing to find, closed by Escape`, async ({ page }) => {
    test.slow(); // axe runs five times
    const view = VIEWS.find(({ name }) => name === on)!;
    await page.goto(view.path);
    await view.drawn(page);
    await open(page);
    const dialog = page.getByRole('dialog');
    await expect(dialog).toHaveAccessibleName(/\w/);
    for (const { width, ...media } of Object.values(WAYS)) {
      if (width && wideOnly) continue;
      await page.emulateMedia({ colorScheme: null, forcedColors: null, reducedMotion: null, ...media });
      await page.setViewportSize({ width: width ?? 1280, height: 900 });
      await expect(dialog).toBeVisible();
      await accessible(page);
      expect(await sideways(page)).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    // keys opened these two: no button had the focus
    if (what !== 'palette' && what !== 'shortcuts')
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.tagName), 'focus is back')
        .toBe('BUTTON');
  });

test('finder: its list is named, its choice is announced, nothing to find', async ({ page }) => {
  const fleet = VIEWS[0]!;
  await page.goto(fleet.path);
  await fleet.drawn(page);
  await page.locator('body').press('/');
  await page.keyboard.insertText('cust'); // at once: a slow machine would ask for each letter
  const option = page.getByRole('option', { name: /customer_events/ }).first();
  await expect(option).toBeVisible();
  await expect(page.getByRole('listbox')).toHaveAccessibleName(/\w/);
  await page.keyboard.press('ArrowDown');
  const input = page.getByRole('combobox', { name: /table/i });
  const active = await input.getAttribute('aria-activedescendant');
  expect(await page.evaluate((id) => document.getElementById(id ?? '')?.role, active)).toBe('option');
  await accessible(page);
  await page.keyboard.press('Escape');
  await expect(option).toBeHidden();
  await expect(input).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(input, 'the second Escape leaves').not.toBeFocused();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toBeVisible();
});
