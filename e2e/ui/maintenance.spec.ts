// Recommended maintenance: the queue, the advice of one table, and the card "Next action" on every page that has one.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { TimelinePage } from '../timeline.ts';
import { BURST_LABELS, linkOf } from './alert-story.ts';
import { BURST_FINDING } from './finding-story.ts';
import { expect, expectOnly, test } from './fixtures.ts';
import { plan, queueAnswer, rowsOf, tableAnswer } from './maintenance-story.ts';
import { BURST_ID, NIGHT, TABLE } from './moment.ts';
import { sideways } from './ways.ts';

const QUEUE = '/maintenance';
const OF_TABLE = `${TABLE}/maintenance`;
const SENTENCE =
  'Compacting 3 partitions would turn 1,840 files into 22, takes 4 to 9 min, costs 0.11 USD and pays back in 2 days.';
const plansOf = (page: Page) =>
  page.getByRole('list', { name: 'Plans, best value per cost first' }).getByRole('group');
const nextAction = (page: Page) => page.getByRole('region', { name: 'Next action' });

/** Answers the queue from `n` rows; `more`: other parts of the answer. */
async function serveQueue(page: Page, n: number, more: object = {}): Promise<URL[]> {
  const asked: URL[] = [];
  const rows = rowsOf(n);
  await page.route(/\/api\/v1\/maintenance(\?|$)/, (route) => {
    const url = new URL(route.request().url());
    asked.push(url);
    return route.fulfill({ json: queueAnswer(rows, url.searchParams, more) });
  });
  return asked;
}
const serveTable = (page: Page, advised: object = {}, more: object = {}) =>
  page.route(/\/tables\/[^?]*\/maintenance$/, (route) => route.fulfill({ json: tableAnswer(advised, more) }));

test('from the fleet to the queue and to the plan of one table, which holds all that its reader needs', async ({
  page,
}) => {
  await page.goto('/');
  await expect(nextAction(page)).toContainText(`sales.customer_events: ${SENTENCE}`);
  await nextAction(page).getByRole('link', { name: '13 plans' }).click();
  await expect(page).toHaveURL(new RegExp(`${QUEUE}$`));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Maintenance');
  await expect(plansOf(page).first()).toHaveAccessibleName(
    `1. sales.customer_events: Compact small files. ${SENTENCE} Not before: Whether a stream reads the table is unknown; run it by hand.`,
  );
  await expect(page.getByRole('region', { name: 'Summary' })).toContainText('default prices');
  await expect(page.getByRole('region', { name: 'Summary' })).toContainText('docs/settings.md');
  await plansOf(page).first().getByRole('link').click();
  await expect(page).toHaveURL(new RegExp(`${OF_TABLE}$`));

  const best = page.getByRole('listitem').filter({ hasText: SENTENCE });
  await expect(page.getByRole('region', { name: 'Recommended' })).toContainText(
    'customer_events_stream (job ingest_customer_events) writes these files',
  );
  for (const [term, text] of [
    ['Why', 'small files and file burst'],
    ['How long', '4 to 9 min'],
    ['Cost', '0.11 USD (0.08 to 0.19 USD)'],
    ['Saves', '1.65 USD a month; 12 min of jobs a day, measured on this table'],
    ['At risk', 'Storage grows by 11 GB until the snapshots before it expire.'],
    ['To undo', 'Roll back to the snapshot before it.'],
  ] as const)
    await expect(
      best.locator('dt', { hasText: new RegExp(`^${term}$`) }).locator('xpath=following-sibling::dd[1]'),
    ).toContainText(text);
  await expect(
    page.getByText('Saves 0.27 USD a month, costs 0.11 USD and two rewrites of 38 GB.'),
  ).toBeVisible();
  await expect(page.getByText('no listing of the storage within 7 days')).toBeVisible();
});

test('statements: tabs by keys, copied as they are, and an engine without one', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(OF_TABLE);
  const tabs = page.getByRole('tablist', { name: 'Engine' }).first();
  await tabs.getByRole('tab', { name: 'Spark' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(tabs.getByRole('tab', { name: 'Trino' })).toBeFocused();
  await expect(page.getByRole('tabpanel', { name: 'Trino' }).first()).toContainText('EXECUTE optimize');
  await page.getByRole('button', { name: 'Copy Trino statement' }).first().click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(plan().statements.trino);
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tabpanel', { name: 'PyIceberg' }).first()).toContainText(
    'No statement for PyIceberg: it cannot do this, or a name of the table cannot be written safely.',
  );
});

test('filters are in the address, Back restores them, and one link clears them', async ({ page }) => {
  const asked = await serveQueue(page, 120);
  await page.goto(QUEUE);
  await expect(plansOf(page)).toHaveCount(50);
  await page.getByRole('combobox', { name: 'Rule: any' }).click();
  await page.getByRole('option', { name: 'Expire snapshots' }).click();
  await expect(page).toHaveURL(/rule=expire/);
  await expect(async () => {
    for (const row of await plansOf(page).all()) await expect(row).toContainText('freed', { timeout: 500 });
  }).toPass();
  await page.getByRole('searchbox', { name: 'Filter by table name' }).fill('no such');
  await expect(page.getByText('No plan matches')).toBeVisible();
  await expect(page).toHaveURL(/q=no\+such/);
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await expect(page).toHaveURL(new RegExp(`${QUEUE}$`));
  await expect(plansOf(page)).toHaveCount(50);
  await page.goBack();
  await expect(page).toHaveURL(/rule=expire/);
  await page.goto(`${QUEUE}?owner=sales-platform&action=vacuum`);
  await expect(page.getByRole('combobox', { name: 'Owner: sales-platform' })).toBeVisible();
  expect(asked.at(-1)?.search).toBe('?limit=50&action=vacuum&owner=sales-platform');
});

test('a budget says how many plans it pays for, draws its end, and asks nothing', async ({ page }) => {
  const asked = await serveQueue(page, 120);
  await page.goto(QUEUE);
  await expect(plansOf(page)).toHaveCount(50);
  const before = asked.length;
  const field = page.getByRole('textbox', { name: 'Budget, USD a day' });
  await field.fill('0.50');
  await field.press('Enter');
  await expect(page).toHaveURL(/budget=0\.50/);
  await expect(page.getByText('With 0.50 USD a day: the first 5 plans, which cost 0.35 USD')).toBeVisible();
  await expect(page.getByText('The budget of 0.50 USD ends here.')).toBeVisible();
  expect(asked).toHaveLength(before);
  await field.fill('lots');
  await field.press('Enter');
  await expect(page.getByText('Not an amount. Enter a number such as 5 or 0.50.')).toBeVisible();
  await page.goto(`${QUEUE}?budget=lots`);
  await expect(page.getByText('Invalid values in the address: budget. Showing defaults.')).toBeVisible();
});

test('5,000 plans: a page of 50 at a time, and arrows move between rows', async ({ page }) => {
  await serveQueue(page, 5000);
  await page.goto(QUEUE);
  await expect(plansOf(page)).toHaveCount(50);
  await plansOf(page).first().getByRole('link').focus();
  await page.keyboard.press('ArrowDown');
  await expect(plansOf(page).nth(1).getByRole('link')).toBeFocused();
  await page.keyboard.press('End');
  await expect(plansOf(page).nth(49).getByRole('link')).toBeFocused();
  await page.getByRole('link', { name: 'More' }).click();
  await expect(plansOf(page).first()).toHaveAccessibleName(/^51\. /);
  await page.getByRole('link', { name: 'First page' }).click();
  await expect(plansOf(page).first()).toHaveAccessibleName(/^1\. /);
  await plansOf(page).nth(2).getByRole('link').focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/campaign_attribution\w+\/maintenance$/);
});

test('the export has every plan that matches, its values as numbers', async ({ page }) => {
  await serveQueue(page, 120);
  await page.goto(QUEUE);
  await expect(plansOf(page)).toHaveCount(50);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: /^CSV/ }).click();
  const lines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\r\n');
  expect(lines).toHaveLength(121);
  expect(lines[0]).toMatch(/^rank,catalog,/);
  expect(lines[1]).toContain('240,390,540,0.08,0.11,0.19,1.65,2,reader');
});

test('nothing to do, not evaluated yet, in part, and failed are four states', async ({
  page,
  complaints,
}) => {
  const empty = { rows: [], counts: { recommended: 0, not_worth: 9, not_known: 4 }, next_cursor: null };
  await serveQueue(page, 0, empty);
  await page.goto(QUEUE);
  await expect(page.getByText('Nothing to do: no action would pay off')).toBeVisible();
  await expect(
    page.getByText('9 rules would cost more than they save; 4 rules without an answer'),
  ).toBeVisible();
  await page.goto('/');
  await expect(nextAction(page)).toContainText(
    'Nothing to do: no action would pay off; 4 rules without an answer.',
  );

  await serveQueue(page, 0, { ...empty, evaluated_at: null, prices_are_default: false });
  await page.goto(QUEUE);
  await expect(page.getByText('Not evaluated yet')).toBeVisible();
  await expect(page.getByText('Prices in USD from the settings, as of 2026-11-01.')).toBeVisible();

  await serveQueue(page, 13, { notes: ['The catalog lake did not respond.'] });
  await page.goto(QUEUE);
  await expect(page.getByRole('group', { name: 'Incomplete data' })).toHaveText(
    'The catalog lake did not respond.',
  );

  await page.route(/\/api\/v1\/maintenance(\?|$)/, (route) =>
    route.fulfill({
      status: 503,
      json: { type: 'about:blank', title: 'Source unavailable', status: 503, detail: 'meta is down' },
    }),
  );
  await page.goto(QUEUE);
  await expect(page.getByRole('group', { name: 'Source unavailable' })).toContainText('Meta is down');
  await expect(page.getByRole('button', { name: 'Retry' })).toBeVisible();
  await page.goto('/');
  await expect(nextAction(page)).toContainText('Could not load the recommended maintenance: meta is down');
  expectOnly(complaints, /503/);
});

const CARDS = {
  table: `${TABLE}?${NIGHT}`,
  commit: `${TABLE}/commits/${BURST_ID}`,
  finding: `/findings/${BURST_FINDING}`,
  incident: linkOf(BURST_LABELS),
};
for (const [name, path] of Object.entries(CARDS))
  test(`the ${name} page has the next action: first the writer, then the plan, which unfolds`, async ({
    page,
  }) => {
    await page.goto(path);
    if (name === 'table') await new TimelinePage(page).drawn();
    const [first, second] = [0, 1].map((i) => nextAction(page).getByRole('listitem').nth(i));
    await expect(first!).toContainText('customer_events_stream (job ingest_customer_events)');
    await expect(second!).toContainText(SENTENCE);
    await expect(second!).toContainText('Whether a stream reads the table is unknown');
    await second!.getByText('Estimate, risk and statements').click();
    await expect(second!.getByRole('tab', { name: 'Spark' })).toBeVisible();
    await accessible(page);
    await nextAction(page).getByRole('link', { name: 'Maintenance', exact: true }).click();
    await expect(page).toHaveURL(new RegExp(OF_TABLE));
  });

test('the card without a plan, without advice, and without an answer', async ({ page, complaints }) => {
  const path = `${TABLE}/commits/${BURST_ID}`;
  await serveTable(page, { recommendations: [] });
  await page.goto(path);
  await expect(nextAction(page)).toContainText(
    'Nothing to do: no action would pay off; 2 rules without an answer.',
  );
  await expect(nextAction(page)).toContainText(
    'Rewrite manifests: not worth it: Saves 0.27 USD a month, costs 0.11 USD and two rewrites of 38 GB.',
  );
  await serveTable(page, {}, { advice: null, problem: 'the snapshots are still being read', writer: null });
  await page.goto(path);
  await expect(nextAction(page)).toContainText('No advice yet: the snapshots are still being read.');
  await page.route(/\/tables\/[^?]*\/maintenance$/, (route) => route.abort());
  await page.goto(path);
  await expect(nextAction(page).getByRole('button', { name: 'Retry' })).toBeVisible();
  expectOnly(complaints, /ERR_FAILED|Failed to load/);
});

test('storage: bytes by kind, ref and age, and why they are not known', async ({ page }) => {
  await page.goto(OF_TABLE);
  const storage = page.getByRole('region', { name: 'Storage' });
  await expect(storage).toContainText('Held 412 GB');
  await expect(storage.getByText('audit_2026_q3')).toBeVisible();
  await expect(storage).toContainText('15.61 USD');
  await storage.getByText('As a table').click();
  await expect(storage.getByRole('row', { name: '5 days 240 GB' })).toBeVisible();

  await serveTable(page, {
    ...{ bytes: null, cost_per_month: null },
    not_known: [{ rule: 'held_bytes', missing: '3 of 40 snapshots are not read yet' }],
  });
  await page.goto(OF_TABLE);
  await expect(storage).toContainText('Bytes are not known. Missing: 3 of 40 snapshots are not read yet.');
  await expect(storage).not.toContainText(/0 B|0 USD/);
});

test('names that break out of markup stay text in the queue and in a plan', async ({ page }) => {
  await page.goto(QUEUE);
  await expect(
    page.getByRole('link', { name: 'marketing.<img src=x onerror=owned=1>' }).first(),
  ).toBeVisible();
  await page.goto(OF_TABLE);
  await expect(page.getByText('v<1>', { exact: true })).toBeVisible();
  expect(await page.evaluate(() => 'owned' in globalThis)).toBe(false);
});

test('the maintenance of a table that is not known', async ({ page, complaints }) => {
  await page.route(/\/tables\/[^?]*\/maintenance$/, (route) =>
    route.fulfill({
      status: 404,
      json: { type: 'about:blank', title: 'Not found', status: 404, detail: 'no' },
    }),
  );
  await page.goto('/t/lake/sales/nothing/maintenance');
  await expect(page.getByRole('heading', { name: 'No table lake.sales.nothing' })).toBeVisible();
  expectOnly(complaints, /404/);
});

for (const path of [QUEUE, OF_TABLE])
  for (const colorScheme of ['light', 'dark'] as const)
    test(`${path}, 390 px, ${colorScheme}: accessible, nothing scrolls sideways`, async ({ page }) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.emulateMedia({ colorScheme });
      await page.goto(path);
      await expect(page.getByText('default prices').first()).toBeVisible();
      await accessible(page);
      expect(await sideways(page)).toBeLessThanOrEqual(0);
    });

test('commits by user: a column, a filter in the address, and who is not known', async ({ page, stub }) => {
  stub.nearest = true;
  await page.goto('/commits');
  await expect(page.getByRole('cell', { name: /^ingest_orders ?svc-ingest$/ }).first()).toBeVisible();
  await page.setViewportSize({ width: 1600, height: 900 });
  await expect(page.getByRole('columnheader', { name: 'User', exact: true })).toBeVisible();
  await expect(page.getByRole('cell', { name: 'svc-ingest', exact: true }).first()).toBeVisible();
  const field = page.getByRole('searchbox', { name: 'User' });
  await field.fill('svc-nightly');
  await field.press('Enter');
  await expect(page).toHaveURL(/user=svc-nightly/);
  await expect.poll(() => stub.asked.at(-1) ?? '').toContain('user=svc-nightly');
  await page.reload();
  await expect(field).toHaveValue('svc-nightly');
});
