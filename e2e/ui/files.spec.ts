// Files of a snapshot on a table's Maintenance tab, read on request; and what maintenance would save on own numbers.
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { changeAnswer, expect, expectOnly, test } from './fixtures.ts';
import { BURST_ID, TABLE } from './moment.ts';
import { storageAnswer } from './storage-story.ts';
import { sideways } from './ways.ts';

const OF_TABLE = `${TABLE}/maintenance`;
const STORAGE = /\/api\/v1\/tables\/[^?]*\/storage(\?|$)/;
const TAGGED = '42';
const filesOf = (page: Page) => page.getByRole('region', { name: 'Files', exact: true });
const rowsOf = (page: Page) => filesOf(page).getByRole('treeitem');
const reads = (asked: readonly string[]) => asked.filter((each) => each.includes('/storage'));

const withTag = (page: Page) =>
  changeAnswer<{ refs: object[] }>(page, /\/refs(\?|$)/, (body) => {
    body.refs.push({ ...body.refs[0], name: 'audit_2026_q3', type: 'tag', snapshot_id: TAGGED });
  });

test('files are read on request, walked by keys, and copied; another snapshot is in the address', async ({
  page,
  context,
  stub,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await withTag(page);
  await page.goto(OF_TABLE);
  await expect(filesOf(page)).toBeVisible();
  expect(reads(stub.asked)).toEqual([]);
  await filesOf(page).getByRole('button', { name: 'Show files' }).click();
  await expect(page).toHaveURL(/files=current/);
  await expect(rowsOf(page)).toHaveCount(103);
  expect(reads(stub.asked)).toHaveLength(1);
  await expect(filesOf(page)).toContainText('57,125 files, 166 GB, in 142 manifests of 7.4 MB');
  await expect(rowsOf(page).last()).toHaveText(/42 other manifests\s*311 files, 96 MB/);

  await rowsOf(page).first().focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  await expect(rowsOf(page).nth(3)).toBeFocused();
  await expect(rowsOf(page).nth(3)).toHaveAttribute('aria-level', '4');
  await expect(rowsOf(page)).toHaveCount(109);
  const path = 's3://warehouse/sales/customer_events/data/event_date=2026-11-20/00100-0-';
  await expect(filesOf(page).getByRole('group', { name: 'Selected file' })).toContainText(path);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(rowsOf(page)).toHaveCount(103);
  const copies = filesOf(page)
    .getByRole('listitem')
    .getByRole('button', { name: /^Copy path of/ });
  await expect(copies).toHaveCount(20);
  await copies.first().click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(path);
  expect(await page.evaluate(() => 'owned' in globalThis)).toBe(false);

  await filesOf(page).getByRole('combobox', { name: 'Snapshot: current' }).click();
  await page.getByRole('option', { name: 'tag audit_2026_q3' }).click();
  await expect(page).toHaveURL(new RegExp(`files=${TAGGED}`));
  await expect(filesOf(page)).toContainText(`snapshot ${TAGGED}`);
  expect(reads(stub.asked).at(-1)).toContain(`snapshot_id=${TAGGED}`);
  await expect(filesOf(page).getByRole('button', { name: 'Show files of audit_2026_q3' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );
  await expect(filesOf(page).getByRole('listitem').filter({ hasText: 'audit_2026_q3' })).toContainText(
    '61 GB',
  );
  await page.goBack();
  await expect(filesOf(page)).toContainText(`snapshot ${BURST_ID}`);
  await filesOf(page).getByRole('button', { name: 'Hide files' }).click();
  await expect(rowsOf(page)).toHaveCount(0);
  await expect(page).toHaveURL(new RegExp(`${OF_TABLE}$`));
});

test('a commit leads to the files of its snapshot', async ({ page, stub }) => {
  await page.goto(`${TABLE}/commits/${BURST_ID}`);
  await page.getByRole('link', { name: 'Files of this snapshot' }).click();
  await expect(page).toHaveURL(new RegExp(`${OF_TABLE}\\?files=${BURST_ID}$`));
  await expect(rowsOf(page).first()).toBeVisible();
  expect(reads(stub.asked)).toEqual([
    `/api/v1/tables/lake/sales/customer_events/storage?snapshot_id=${BURST_ID}`,
  ]);
});

test('a reading shows that it goes on, and can be stopped and repeated', async ({ page }) => {
  let release = () => {};
  const gate = new Promise<void>((done) => (release = done));
  await page.route(STORAGE, async (route) => {
    await gate;
    await route.fallback().catch(() => undefined); // the first one was stopped
  });
  await page.goto(`${OF_TABLE}?files=current`);
  const reading = filesOf(page).getByRole('group', { name: 'Reading storage' });
  await expect(reading).toContainText(/snapshots: [1-9] s/);
  await accessible(page);
  await reading.getByRole('button', { name: 'Stop' }).click();
  await expect(filesOf(page)).toContainText('Stopped reading.');
  await filesOf(page).getByRole('button', { name: 'Read again' }).click();
  release();
  await expect(rowsOf(page).first()).toBeVisible();
  await expect(reading).toBeHidden();
});

test('no tree, no bytes, too many requests, and an address that cannot be read', async ({
  page,
  complaints,
}) => {
  const answer = (more: object) =>
    page.route(STORAGE, (route) => route.fulfill({ json: storageAnswer(null, more) }));
  await answer({ tree: null, tree_missing: 'files are not listed for tables of format delta' });
  await page.goto(`${OF_TABLE}?files=current`);
  await expect(filesOf(page)).toContainText(
    'No files to show: files are not listed for tables of format delta.',
  );
  await expect(filesOf(page)).toContainText('Live 182 GB');
  await answer({ bytes: null, bytes_missing: 'a manifest list of a retained snapshot is missing' });
  await page.goto(`${OF_TABLE}?files=current`);
  await expect(filesOf(page)).toContainText('Bytes are not known: a manifest list of a retained snapshot');
  await expect(rowsOf(page).first()).toBeVisible();
  await page.route(STORAGE, (route) =>
    route.fulfill({
      status: 429,
      json: { type: 'about:blank', title: 'Too many requests', status: 429, detail: 'try again in 10 s' },
    }),
  );
  await page.goto(`${OF_TABLE}?files=current`);
  await expect(filesOf(page).getByRole('group', { name: 'Too many requests' })).toContainText('Try again');
  await expect(filesOf(page).getByRole('button', { name: 'Retry' })).toBeVisible();
  expectOnly(complaints, /429/);
  await page.goto(`${OF_TABLE}?files=lots`);
  await expect(page.getByText('Invalid values in the address: files. Showing defaults.')).toBeVisible();
  await expect(filesOf(page).getByRole('button', { name: 'Show files' })).toBeVisible();
});

test('savings of a table and of the fleet follow own numbers', async ({ page, stub }) => {
  await page.goto(OF_TABLE);
  const savings = page.getByRole('region', { name: 'What maintenance would save' });
  const row = (name: RegExp) => savings.getByRole('row', { name });
  await expect(row(/^Now /)).toContainText('67.90 USD');
  await expect(row(/^Both /)).toContainText('63.55 USD');
  await expect(savings).toContainText('51,840 live data files; a compaction would leave 410.');
  await savings.getByRole('textbox', { name: /^Reads/ }).fill('1');
  await expect(row(/^Small files compacted /)).toContainText('2.28 USD');
  await savings.getByRole('textbox', { name: /^Storage/ }).fill('dear');
  await expect(savings.getByText(/^Not an amount/)).toBeVisible();
  await savings.getByRole('button', { name: 'Reset' }).click();
  await expect(row(/^Now /)).toContainText('67.90 USD');

  await page.goto('/maintenance?owner=sales-platform');
  expect(stub.asked.filter((each) => each.includes('comparison'))).toEqual([]);
  await savings.getByRole('button', { name: 'Compare' }).click();
  await expect(row(/^Both /)).toContainText('70.42 USD');
  await expect(savings).toContainText('Sum of 13 tables that match; bytes are known of 12');
  expect(stub.asked.at(-1)).toBe('/api/v1/maintenance/comparison?owner=sales-platform');
  await savings.getByRole('textbox', { name: /^Storage/ }).fill('0');
  await expect(row(/^Held bytes freed /)).toContainText('0 USD');
  await accessible(page);
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`files and savings, 390 px, ${colorScheme}: accessible, nothing scrolls sideways`, async ({
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme });
    await page.goto(`${OF_TABLE}?files=current`);
    await rowsOf(page).nth(2).click();
    await expect(rowsOf(page).nth(2)).toHaveAttribute('aria-expanded', 'true');
    await expect(page.getByRole('table', { name: 'Cost a month' })).toBeVisible();
    await accessible(page);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
  });
