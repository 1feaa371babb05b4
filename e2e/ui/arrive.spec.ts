// What a page showed stays in view, behind the frame of the next page, until that one has something of its own to show.
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { NIGHT, TABLE } from './moment.ts';

const kept = (page: Page) => page.locator('.kept');
const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages', exact: true });

test('from page to page the last data stay until the next ones are there', async ({ page, stub }) => {
  stub.nearest = true;
  await page.goto(`${TABLE}?${NIGHT}`);
  await new TimelinePage(page).drawn();
  const ways = [
    ['Alerts', 'SmallFileProliferation', 'Data files'],
    ['Fleet', 'Needs attention now', 'SmallFileProliferation'],
    ['Findings', 'Recently closed', 'Needs attention now'],
    ['Commits', 'Application', 'Recently closed'],
  ] as const;
  for (const [name, own, last] of ways) {
    const release = stub.hold();
    await pages(page).getByRole('link', { name }).click();
    // the frame is that of the new page at once, and what was read is still there
    await expect(pages(page).getByRole('link', { name })).toHaveAttribute('aria-current', 'page');
    await expect(kept(page).getByText(last).first()).toBeVisible();
    await page.waitForTimeout(300);
    await expect(kept(page)).toHaveCount(1);
    release();
    await expect(kept(page)).toHaveCount(0);
    await expect(page.getByRole('main').getByText(own).first()).toBeVisible();
  }
});

test('from one table to another, too; nothing that left can be pressed, and axe finds nothing', async ({
  page,
  stub,
}) => {
  stub.nearest = true;
  await page.goto('/');
  await expect(page.getByRole('row').nth(3)).toBeVisible();
  const release = stub.hold();
  await page.getByRole('table').getByRole('link', { name: 'sales.orders' }).click();
  await expect(page).toHaveURL(/sales\/orders/);
  await expect(kept(page).getByText('Needs attention now')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Needs attention now' })).toHaveCount(0);
  await accessible(page);
  release();
  await new TimelinePage(page).drawn();
  await expect(kept(page)).toHaveCount(0);

  // another page of the same kind, by the finder
  await page.keyboard.press('/');
  await page.keyboard.insertText('customer_events');
  const found = page.getByRole('option', { name: /customer_events/ }).first();
  await expect(found).toBeVisible();
  const again = stub.hold();
  await found.click();
  await expect(page).toHaveURL(/customer_events/);
  await expect(kept(page).getByText('Data files').first()).toBeVisible();
  again();
  await expect(kept(page)).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 1, name: /customer_events/ })).toBeAttached();
});

test('a wait that takes long says so in front of what is still shown, and can be ended', async ({
  page,
  stub,
}) => {
  stub.nearest = true;
  await page.goto('/alerts');
  await expect(page.getByRole('row').nth(3)).toBeVisible();
  const release = stub.hold();
  await pages(page).getByRole('link', { name: 'Commits' }).click();
  const notice = page.getByRole('group', { name: 'Waiting' });
  await expect(notice).toContainText('No response for', { timeout: 6_000 });
  await expect(kept(page)).toHaveCount(1);
  await notice.getByRole('button', { name: 'Cancel' }).click();
  await expect(kept(page)).toHaveCount(0);
  release();
});
