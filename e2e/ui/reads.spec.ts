// The page of reads: what the recorded answer says, by keyboard and on a phone, and what it says without reads or answers.
import { accessible } from '../axe.ts';
import { changeAnswer, expect, expectOnly, test } from './fixtures.ts';
import { NIGHT, TABLE } from './moment.ts';
import { sideways } from './ways.ts';

const PATH = `${TABLE}/reads?${NIGHT}`;
const READS = /\/api\/v1\/.*\/reads\?/;
const nothing = { scans: 0, queries: 0 };

interface Reads {
  total: { scans: number; queries: number };
}

test('from the timeline by the tab: the filter that nothing prunes, engines, readers, old snapshots', async ({
  page,
}) => {
  await page.goto(`${TABLE}?${NIGHT}`);
  await page
    .getByRole('navigation', { name: 'Table pages' })
    .getByRole('link', { name: 'Reads' })
    .press('Enter');
  await expect(page).toHaveURL(/\/reads\?from=/);
  const filters = page.getByRole('region', { name: 'Filters' });
  await expect(filters).toContainText(
    '85 % of scans filter customer_id, which neither partitions nor sorts the table.',
  );
  const readers = page.getByRole('region', { name: 'Readers of the table' });
  await expect(
    readers.getByRole('row', { name: /rollup_customer_events spark 4\.1\.4 etl \(47\)/ }),
  ).toBeVisible();
  const old = page.getByRole('region', { name: 'Reads of old snapshots' });
  await expect(old.getByRole('row', { name: /hourly_export, trino/ })).toContainText('2 h 53 m');
  await page.getByRole('button', { name: 'Table', exact: true }).press('Enter');
  await expect(page.getByRole('region', { name: 'Reads by time' }).getByRole('row').nth(4)).toBeVisible();
  await accessible(page);
});

test('without reads it says how to get them, in the dark on a phone too', async ({ page }) => {
  await changeAnswer<Reads>(page, READS, (body) => Object.assign(body.total, nothing));
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(PATH);
  await expect(page.getByRole('heading', { name: 'No read was reported in this range' })).toBeVisible();
  await expect(page.getByRole('main')).toContainText('docs/events.md');
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await accessible(page);
});

test('a server that cannot read the meta tables is a notice with a way to retry', async ({
  page,
  complaints,
}) => {
  let fails = true;
  await page.route(READS, (route) =>
    fails
      ? route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          json: {
            type: 'source-unavailable',
            title: 'Source unavailable',
            status: 503,
            detail: 'meta: down',
          },
        })
      : route.fallback(),
  );
  await page.goto(PATH);
  const retry = page.getByRole('button', { name: /retry/i }).first();
  await expect(retry).toBeVisible();
  await accessible(page);
  fails = false;
  await retry.press('Enter');
  await expect(page.getByRole('heading', { name: 'Readers', exact: true })).toBeVisible();
  expectOnly(complaints, /503/);
});
