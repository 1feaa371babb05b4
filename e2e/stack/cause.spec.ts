// From the fleet to the commit that added 50,000 files, with the mouse and with the keyboard.
import { expect, tablePath, test } from './fixtures.ts';
import { TimelinePage } from '../timeline.ts';
import type { Page } from '@playwright/test';

const rowOf = (page: Page) => page.getByRole('table').getByRole('row').filter({ hasText: 'customer_events' });

test('fleet to table: its recovered finding is there, with what repaired it', async ({
  page,
  story,
  fleet,
}) => {
  await page.goto(fleet);
  await rowOf(page).getByRole('link').first().click();
  await expect(page).toHaveURL(new RegExp(tablePath(story)));
  await new TimelinePage(page).drawn();
  const repaired = page.getByText(/Recovered .*05:30 UTC by snapshot/).first();
  await expect(repaired).toBeVisible();
});

test('at most three clicks, no typing, from the fleet to the commit page that says 50,000', async ({
  page,
  story,
  fleet,
}) => {
  await page.goto(fleet);
  await rowOf(page).getByRole('link').first().click();
  await page.getByRole('link', { name: 'file burst' }).last().click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('1,202 to 51,202');
  await expect(page.getByText(/backfill_customer_events added 50,000 files.*03:04:12/)).toBeVisible();
  await page.getByRole('link', { name: /open the commit/i }).click();
  await expect(page).toHaveURL(new RegExp(`/commits/${story.burst.snapshot_id}(\\?|$)`));
  await expect(page.getByRole('main')).toContainText('50,000');
  await expect(page.getByRole('row', { name: /Data files/ })).toContainText(/1,202\s*51,202\s*\+50,000/);
});

test('which commits added more than 10,000 files, in all tables: one choice, and the commit is a link away', async ({
  page,
  story,
  around,
}) => {
  await page.goto(`/commits?${around}`);
  await page.getByRole('combobox', { name: /^Files added/ }).click();
  await page.getByRole('option', { name: '10,000 or more' }).click();
  await expect(page).toHaveURL(/min=10000/);
  const row = page.getByRole('row').filter({ hasText: '+50,000' });
  await expect(row.getByRole('link', { name: 'sales.customer_events' })).toBeVisible();
  await row.getByRole('link', { name: story.burst.snapshot_id }).click();
  await expect(page).toHaveURL(`${tablePath(story)}/commits/${story.burst.snapshot_id}`);
});

test('all 19 digits of an id stay in page, URL and API', async ({ page, story, request }) => {
  const id = story.burst.snapshot_id;
  expect(id).toMatch(/^\d{18,19}$/);
  await page.goto(`${tablePath(story)}/commits/${id}`);
  await expect(page.getByText(id, { exact: true }).first()).toBeVisible();
  expect(page.url()).toContain(id);
  const answer = await request.get(`/api/v1/tables${tablePath(story).slice(2)}/commits/${id}`);
  expect(((await answer.json()) as { commit: { snapshot_id: string } }).commit.snapshot_id).toBe(id);
});

test('the lane of data files rises by exactly 50,000 where the job slows down', async ({
  page,
  story,
  around,
}) => {
  await page.goto(`${tablePath(story)}?${around}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const told = async () => (await timeline.slider.getAttribute('aria-valuetext')) ?? '';
  await timeline.slider.focus();
  await page.keyboard.press('Home');
  await expect.poll(told).toContain('data files 1,');
  for (let i = 0; i < 400 && !(await told()).includes('data files 51,'); i += 1)
    await page.keyboard.press(']');
  await expect.poll(told).toMatch(/03:04:12 UTC.*data files 51,202/);
});

test('a commit is found with Tab, ] and Enter only; letters on the body do nothing', async ({
  page,
  story,
  around,
}) => {
  await page.goto(`${tablePath(story)}?${around}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await page.locator('body').press(']');
  await page.locator('body').press('z');
  await expect(page).not.toHaveURL(/c=/);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to timeline' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(timeline.slider).toBeFocused();
  await page.keyboard.press('Home');
  for (let i = 0; i < 400; i += 1) {
    if (((await timeline.slider.getAttribute('aria-valuetext')) ?? '').includes('03:04:12')) break;
    await page.keyboard.press(']');
  }
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`c=${story.burst.snapshot_id}`));
});
