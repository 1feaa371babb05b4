// The pages of a table's structure on the demo: from the timeline to the partition that grew, its schema, its refs.
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { TimelinePage } from '../timeline.ts';
import { expect, tablePath, test } from './fixtures.ts';

const MINUTE = 60_000;
const at = (when: number, minutes: number) => `at=${when + minutes * MINUTE}&cmp=${minutes * 2}m`;

async function fits(page: Page): Promise<void> {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
}

test('from the timeline to the partition that grew: the range goes along', async ({
  page,
  story,
  around,
}) => {
  await page.goto(`${tablePath(story)}?${around}`);
  await new TimelinePage(page).drawn();
  await page
    .getByRole('navigation', { name: 'Table pages' })
    .getByRole('link', { name: 'Partitions' })
    .click();
  await expect(page).toHaveURL(new RegExp(`/partitions\\?.*${around}`));
  await expect(page.getByRole('heading', { name: 'Two instants' })).toBeVisible();
  await page.goto(`${tablePath(story)}/partitions?${around}&${at(story.burst.at, 10)}`);
  await expect(page.getByText(/grew from [\d,]+ to 50,\d{3} files\./)).toBeVisible();
  const first = page
    .getByRole('region', { name: /^Partitions table/ })
    .getByRole('row')
    .nth(1);
  await expect(first).toContainText('+50,000');
  await expect(first).toContainText('98 %');
  await expect(page.getByRole('img', { name: /50,000 files under 1 MiB/ })).toBeVisible();
});

test('instant B moves by keys, and the address with it', async ({ page, story, around }) => {
  await page.goto(`${tablePath(story)}/partitions?${around}&${at(story.burst.at, 10)}`);
  const b = page.getByRole('slider', { name: 'Instant B' });
  await expect(b).toHaveAttribute('aria-valuetext', /51,2\d\d files/);
  await b.focus();
  await page.keyboard.press('ArrowLeft');
  await expect(page).not.toHaveURL(new RegExp(at(story.burst.at, 10)));
  for (let i = 0; i < 4; i += 1) await page.keyboard.press('ArrowLeft');
  await expect(b).toHaveAttribute('aria-valuetext', /1,\d{3} files/);
  await expect(page.getByText(/to 50,\d{3} files/)).toHaveCount(0);
});

test('a filter hides the other partitions and is cleared again', async ({ page, story, around }) => {
  await page.goto(`${tablePath(story)}/partitions?${around}`);
  const rows = page.getByRole('region', { name: /^Partitions table/ }).getByRole('row');
  await expect(rows.nth(2)).toBeVisible();
  await page.getByRole('textbox').last().fill('2026-11-2*');
  await page.keyboard.press('Tab');
  await expect(page).toHaveURL(/partition=/);
  await expect(page.getByText(/\d+ of \d+ matching/)).toBeVisible();
  await page.getByRole('textbox').last().fill('nothing');
  await page.keyboard.press('Tab');
  await page.getByRole('link', { name: 'Show all' }).click();
  await expect(rows.nth(2)).toBeVisible();
});

test('a version of the schema leads to its moment on the timeline', async ({ page, story }) => {
  await page.goto(`${tablePath(story)}/schema`);
  await expect(page.getByRole('heading', { name: 'Fields by version' })).toBeVisible();
  await expect(page.getByRole('row', { name: /event_time timestamptz/ })).toBeVisible();
  await page.getByRole('link', { name: /^Show on timeline: Schema/ }).click();
  await new TimelinePage(page).drawn();
});

test('refs: main, its snapshot, how many it leads to', async ({ page, story }) => {
  await page.goto(`${tablePath(story)}/refs`);
  const main = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'main' }) });
  await expect(main.getByRole('link', { name: /^\d{10,19}$/ })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Ref history' })).toBeVisible();
});

test('a table that is not observed is said, on each of the pages', async ({ page, complaints }) => {
  for (const name of ['partitions', 'schema', 'refs']) {
    await page.goto(`/t/lake/sales/nothing_of_the_kind/${name}`);
    await expect(page.getByRole('heading', { name: /No table/ })).toBeVisible();
  }
  complaints.splice(0); // the browser tells of each 404
});

const LOOKS = [
  { name: 'light', width: 1280, colorScheme: 'light', forcedColors: 'none' },
  { name: 'dark', width: 1280, colorScheme: 'dark', forcedColors: 'none' },
  { name: 'a phone', width: 390, colorScheme: 'light', forcedColors: 'none' },
  { name: '320 px', width: 320, colorScheme: 'dark', forcedColors: 'none' },
  { name: 'forced colours', width: 1280, colorScheme: 'light', forcedColors: 'active' },
] as const;
for (const { name, width, colorScheme, forcedColors } of LOOKS) {
  test(`axe finds nothing and nothing scrolls sideways: ${name}`, async ({ page, story, around }) => {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme, forcedColors, reducedMotion: 'reduce' });
    for (const path of [`partitions?${around}&${at(story.burst.at, 10)}`, 'schema', 'refs']) {
      await page.goto(`${tablePath(story)}/${path}`);
      await expect(page.locator('section.panel h2').first()).toBeVisible();
      await accessible(page);
      await fits(page);
    }
  });
}
