// Every page, light and dark: axe finds nothing and leaves nothing undecided, nothing scrolls sideways, no CSP report.
import { accessible } from '../axe.ts';
import { expect, tablePath, test } from './fixtures.ts';
import { TimelinePage } from '../timeline.ts';

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('fleet, its finder and its popovers', async ({ page }) => {
      await page.goto('/');
      await expect(page.getByRole('row').nth(3)).toBeVisible();
      await accessible(page);
      await page.keyboard.press('/');
      await page.keyboard.type('orders');
      await expect(page.getByRole('option', { name: /orders/ }).first()).toBeVisible();
      await accessible(page);
    });

    test('table page with its timeline, a commit and the table view', async ({ page, story, around }) => {
      await page.goto(`${tablePath(story)}?${around}&c=${story.burst.snapshot_id}`);
      await new TimelinePage(page).drawn();
      await expect(page.getByRole('complementary').getByText('+50,000').first()).toBeVisible();
      await accessible(page);
      await page.getByRole('button', { name: 'View as table' }).click();
      await accessible(page);
    });

    test('what opens: range, lanes, sources, help', async ({ page, story, around }) => {
      await page.goto(`${tablePath(story)}?${around}`);
      await new TimelinePage(page).drawn();
      for (const name of [/UTC.*h/, 'Lanes', 'Share', /^Prometheus/]) {
        await page.getByRole('button', { name }).first().click();
        await expect(page.getByRole('dialog').first()).toBeVisible();
        await accessible(page);
        await page.keyboard.press('Escape');
        await expect(page.getByRole('dialog')).toHaveCount(0);
      }
      await page.keyboard.press('?');
      await expect(page.getByRole('dialog', { name: /shortcuts|keyboard/i })).toBeVisible();
      await accessible(page);
    });

    test('commit page, lists of commits, status', async ({ page, story }) => {
      await page.goto(`${tablePath(story)}/commits/${story.burst.snapshot_id}`);
      await expect(page.getByText('51,202').first()).toBeVisible();
      await accessible(page);
      await page.goto(`${tablePath(story)}/commits`);
      await expect(page.getByRole('row').nth(3)).toBeVisible();
      await accessible(page);
      await page.goto('/commits');
      await expect(page.getByRole('row').nth(3)).toBeVisible();
      await accessible(page);
      await page.goto('/status');
      await expect(
        page
          .getByRole('main')
          .getByText(/pipeline/i)
          .first(),
      ).toBeVisible();
      await accessible(page);
    });
  });
}

for (const width of [320, 390, 768, 1440]) {
  test(`nothing scrolls sideways at ${width} px`, async ({ page, story, around }) => {
    await page.setViewportSize({ width, height: 844 });
    for (const path of [
      '/',
      '/commits',
      `${tablePath(story)}?${around}`,
      `${tablePath(story)}/commits/${story.burst.snapshot_id}`,
      '/status',
    ]) {
      await page.goto(path);
      await expect(page.getByRole('main')).toContainText(/\d/);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow, path).toBeLessThanOrEqual(0);
    }
  });
}
