// From the fleet to the commit, without typing.
import { expect, test } from './fixtures.ts';
import { BURST_ID } from './moment.ts';

test('at most three clicks from the fleet to the commit page that says 50,000', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('link', { name: 'Open timeline of sales.customer_events' }).click();
  await page.getByRole('button', { name: /03:04:12.*50,000/ }).click();
  await page.getByRole('link', { name: /open commit/i }).click();
  await expect(page).toHaveURL(new RegExp(`/commits/${BURST_ID}(\\?|$)`));
  await expect(page.getByRole('main')).toContainText('50,000');
});
