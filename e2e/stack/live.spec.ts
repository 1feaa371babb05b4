// What happens in the lake is on the page without anybody asking: the demo's live job commits every few seconds.
import { expect, test } from './fixtures.ts';
import { TimelinePage } from '../timeline.ts';

const LIVE_TABLE = '/t/lake/sales/orders';

test('a commit of the live job is drawn by itself; under the pointer it waits behind a pill', async ({
  page,
}) => {
  test.slow(); // the live job may still be starting
  const stream = page.waitForRequest(/\/api\/v1\/stream$/);
  await page.goto(`${LIVE_TABLE}?from=now-1h`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await stream;
  await expect(page.getByRole('status')).toContainText(/new commit/i, { timeout: 90_000 });

  const pill = page.getByRole('button', { name: /^\d+ new commits?$/ });
  await expect(async () => {
    for (const where of [0.3, 0.5, 0.7]) await timeline.hover('Data files', where);
    await expect(pill).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 60_000 });
  // Once the pointer has left, what waits is drawn without a click.
  await page.mouse.move(2, 2);
  await expect(pill).toHaveCount(0);
});

test('a refused stream leaves a page that works and polls', async ({ page, complaints }) => {
  await page.route('**/api/v1/stream', (route) => route.fulfill({ status: 503, body: '' }));
  await page.goto(LIVE_TABLE);
  await new TimelinePage(page).drawn();
  const again = page.waitForResponse(/\/timeline\?/, { timeout: 40_000 });
  expect((await again).ok()).toBe(true);
  // The browser itself notes the refusal; nothing else may complain, and nothing may hammer the server.
  expect(complaints.length).toBeLessThanOrEqual(4);
  expect(complaints.filter((text) => !/503|stream/.test(text))).toEqual([]);
  complaints.length = 0;
});
