// The page of a runbook: text of the server, statements for the table of its address, and links that keep that table.
import { accessible } from '../axe.ts';
import { expect, test } from './fixtures.ts';
import { BURST_ID } from './moment.ts';
import { sideways } from './ways.ts';

const ABOUT = `catalog=lake&namespace=sales&table=customer_events&commit=${BURST_ID}`;

for (const { width, colorScheme } of [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)
  test(`${width} px, ${colorScheme}: accessible, and links keep the table and the commit`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    await page.route(/\/api\/v1\/tables\/.*\/runbooks\//, (route) =>
      route.fulfill({ json: { statements: [{ code: 'CALL lake.system.run()', note: null }] } }),
    );
    await page.goto(`/runbooks/lakehouse-finding-critical?${ABOUT}`);
    await expect(page.getByText('Statements are for')).toContainText('sales.customer_events');
    await accessible(page);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    const link = page.getByRole('article').getByRole('link').first();
    await expect(link).toHaveAttribute('href', new RegExp(`^/runbooks/[a-z-]+\\?${ABOUT}$`));
    await link.click();
    await expect(page).toHaveURL(new RegExp(`/runbooks/[a-z-]+\\?${ABOUT}$`));
    await expect(page.getByText('Statements are for')).toContainText('sales.customer_events');
    await expect(page.getByText('CALL lake.system.run()').first()).toBeVisible();
    await accessible(page);
  });

test('without a table, links name none, and statements are examples', async ({ page }) => {
  await page.goto('/runbooks/lakehouse-finding-critical');
  await expect(page.getByRole('article').getByRole('link').first()).toHaveAttribute(
    'href',
    /^\/runbooks\/[a-z-]+$/,
  );
  await accessible(page);
});
