// The page of reads: what the recorded answer says, by keyboard and on a phone, and what it says without reads or answers.
import { accessible } from '../axe.ts';
import { changeAnswer, expect, expectOnly, test } from './fixtures.ts';
import { at, NIGHT, TABLE } from './moment.ts';
import { sideways } from './ways.ts';

const PATH = `${TABLE}/reads?${NIGHT}`;
const PARTITIONS = `${TABLE}/partitions?at=${at('04:00')}`;
const READS = /\/api\/v1\/.*\/reads\?/;
const nothing = { scans: 0, queries: 0 };

interface Reads {
  total: { scans: number; queries: number };
  merges: Record<string, unknown>;
}
interface Partitions {
  after: { delete_files: number };
  rows: { delete_files: number; delete_bytes: number; oldest_delete_at: number | null }[];
}

/** A table whose scans merge much: its numbers, and a mode that its properties declare. */
const merging = {
  modes: [
    { operation: 'delete', mode: 'merge-on-read', declared: true },
    { operation: 'update', mode: 'copy-on-write', declared: false },
    { operation: 'merge', mode: 'copy-on-write', declared: false },
  ],
  ...{ delete_files: 380, delete_bytes: 2.4e9, oldest_delete_at: 1_795_230_000_000 },
  ...{ deletes_per_data_file: 0.38, delete_bytes_ratio: 0.006 },
  ...{ merged_files: 0.42, merged_bytes: 2.6e6, merging_commits: 31, changed_share: 0.004 },
  ...{ fits: 'copy-on-write', because: 'reads_merge_much' },
};

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

test('what scans merge, and which write mode fits by which numbers', async ({ page }) => {
  await changeAnswer<Reads>(page, READS, (body) => Object.assign(body.merges, merging));
  await page.goto(PATH);
  const section = page.getByRole('region', { name: 'Merge on read' });
  await expect(section).toContainText(
    'Copy-on-write fits: 52 scans in this range merged 0.42 delete files per data file opened, and 31 commits deleted 0.4 % of the rows a day.',
  );
  await expect(section).toContainText(/Oldest delete\s*3 h/);
  await expect(section.getByRole('list', { name: 'Write modes' })).toContainText(
    'write.update.mode copy-on-write not set, the default',
  );
  await accessible(page);
  await expect(section.getByRole('link', { name: 'By partition' })).toHaveAttribute(
    'href',
    /partitions\?.*sort=delete_bytes/,
  );
});

test('the table of partitions has the bytes of deletes and the oldest one, where there are any', async ({
  page,
}) => {
  await page.goto(PARTITIONS);
  const table = page.getByRole('region', { name: 'Partitions table' });
  await expect(table.getByRole('columnheader', { name: 'Deletes' })).toBeVisible();
  await expect(table.getByRole('columnheader', { name: 'Oldest delete' })).toHaveCount(0);
  await changeAnswer<Partitions>(page, /\/api\/v1\/.*\/partitions\?/, (body) => {
    body.after.delete_files = 380;
    Object.assign(body.rows[0]!, {
      delete_files: 380,
      delete_bytes: 2.4e9,
      oldest_delete_at: merging.oldest_delete_at,
    });
  });
  await page.reload();
  await expect(table.getByRole('columnheader', { name: 'Oldest delete' })).toBeVisible();
  await expect(table.getByRole('row', { name: /2\.4 GB .*03:00/ }).first()).toBeVisible();
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
