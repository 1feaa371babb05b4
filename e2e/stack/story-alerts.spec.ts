// The alerts of the night: what the shipped rules raised on the demo's history is listed, has incidents, and is drawn.
import type { Page } from '@playwright/test';
import { expect, type Story, tablePath, test } from './fixtures.ts';
import { TimelinePage } from '../timeline.ts';

const MINUTE = 60_000;
const BURST_ALERT = 'SmallFileProliferation';

/** A link as the rule writes it, with a time as pagers add it. */
function linkOf(story: Story, startsAt: number): string {
  const [catalog = '', table_namespace = '', table = ''] = story.table.split('.');
  const labels = { alertname: BURST_ALERT, catalog, table_namespace, table, startsAt: String(startsAt) };
  return `/a?${new URLSearchParams(labels)}`;
}

const headingOf = (page: Page) => page.getByRole('heading', { level: 1 });

test('M13: alerts lists the episode of 03:05, and its incident shows the append that caused it', async ({
  page,
  story,
}) => {
  await page.goto('/alerts');
  const row = page
    .getByRole('row')
    .filter({ hasText: BURST_ALERT })
    .filter({ hasText: 'customer_events' })
    .filter({ hasText: '03:05:00' });
  await expect(row).toContainText('resolved, fired for 20 m');
  await row.getByRole('link', { name: BURST_ALERT }).click();
  await expect(page).toHaveURL(/\/alerts\/[0-9a-f]{16}\?starts_at=\d{13}$/);
  await expect(headingOf(page)).toContainText(BURST_ALERT);
  const what = page.getByRole('region', { name: 'What happened' });
  await expect(what).toContainText('03:04:12');
  await expect(what).toContainText('50,000 files');
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const [from, to] = await timeline.range();
  expect(from).toBeLessThanOrEqual(story.burst.at - 59 * MINUTE);
  expect(to).toBeGreaterThan(story.burst.at + 20 * MINUTE);
  expect(to).toBeLessThan(story.repair.at);
});

test('the lane of alerts shows the burst and the backlog until the compaction', async ({
  page,
  story,
  around,
}) => {
  await page.goto(`${tablePath(story)}?${around}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const lane = timeline.drawing('Alerts');
  await expect(lane).toHaveAccessibleName(/SmallFileProliferation \(resolved\) from 03:05:00 until 03:25:00/);
  await expect(lane).toHaveAccessibleName(
    /LakehouseCompactionBacklog \(resolved\) from 03:35:00 until 05:4\d:00/,
  );
});

test('a link with a time opens the episode of that time, or says that there is none', async ({
  page,
  story,
}) => {
  const notice = page.getByRole('group', { name: 'Time of the link' });
  const fired = story.burst.at - (story.burst.at % MINUTE) + MINUTE;
  await page.goto(linkOf(story, fired + MINUTE));
  await expect(page).toHaveURL(new RegExp(`starts_at=${fired}$`));
  await expect(headingOf(page)).toContainText(BURST_ALERT);
  await expect(notice).toBeHidden();

  const never = fired - 90 * MINUTE;
  await page.goto(linkOf(story, never));
  await expect(page).toHaveURL(new RegExp(`starts_at=${never}$`));
  await expect(notice).toContainText(/This alert did not fire at .* 01:35:00 UTC\./);
  await expect(notice).toContainText(/episode is shown, which began at .* 03:05:00 UTC/);
  await notice.getByRole('link', { name: /03:05:00/ }).click();
  await expect(page).toHaveURL(new RegExp(`starts_at=${fired}$`));
  await expect(notice).toBeHidden();
});
