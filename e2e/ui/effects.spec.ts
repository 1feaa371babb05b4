// What maintenance did to jobs: the ledger, and its sentences on the pages of a table, a commit and an incident.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { TimelinePage } from '../timeline.ts';
import { BURST_LABELS, linkOf } from './alert-story.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { effect, fresh, MANY, serveLedger } from './ledger-story.ts';
import { at, BURST_ID, NIGHT, NOW, TABLE } from './moment.ts';
import { sideways } from './ways.ts';

const LEDGER = '/maintenance/ledger';
const DAY = 86_400_000;
const rowsOf = (page: Page) =>
  page.getByRole('list', { name: 'Effects, newest operation first' }).getByRole('group');
const verdict = (page: Page, name: RegExp) =>
  page.getByRole('list', { name: 'Verdicts' }).getByRole('link', { name });

test('the ledger of the last 30 days: shares, self-check, rows that read as sentences', async ({
  page,
  stub,
}) => {
  await page.goto('/');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Maintenance' }).click();
  await page.getByRole('link', { name: 'Effects of maintenance' }).click();
  await expect(page).toHaveURL(new RegExp(`${LEDGER}$`));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Effects of maintenance');
  await expect(page.getByRole('region', { name: 'Self-check' })).toContainText(
    'Bounds covered no change at 96 % of 210 cuts in histories where nothing was done; 95 % is nominal.',
  );
  await expect(
    rowsOf(page)
      .filter({ hasText: 'times as long' })
      .or(rowsOf(page).filter({ hasText: '% faster' }))
      .first(),
  ).toHaveAccessibleName(
    /UTC: The compaction of lake\.sales\.customer_events by .* made .* runs before, \d+ after/,
  );
  const question = stub.asked.find((each) => each.startsWith('/api/v1/effects'));
  expect(question).toBe(`/api/v1/effects?from=${NOW - 30 * DAY}&limit=50&to=${NOW}`);
});

test('filters are in the address: by verdict, by table, by measure; Back restores, and one link clears them', async ({
  page,
}) => {
  const asked = await serveLedger(page, MANY);
  await page.goto(LEDGER);
  await expect(rowsOf(page)).toHaveCount(50);
  await verdict(page, /^worse/).click();
  await expect(page).toHaveURL(/verdict=worse/);
  await expect(verdict(page, /^worse/)).toHaveAttribute('aria-current', 'true');
  await expect(verdict(page, /^helped/), 'counts do not follow the filter').toContainText(/[1-9]/);
  for (const row of await rowsOf(page).all()) await expect(row).toContainText('30 times as long');
  await page.getByRole('combobox', { name: 'Table: any' }).click();
  await page.getByRole('option', { name: /campaign_attribution/ }).click();
  await expect(page).toHaveURL(/table=lake\.sales\.campaign_attribution/);
  await expect(page.getByText('No effect matches')).toBeVisible();
  await page.goBack();
  await expect(rowsOf(page).first()).toBeVisible();
  await page.goForward();
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await expect(page).toHaveURL(new RegExp(`${LEDGER}$`));
  await expect(rowsOf(page)).toHaveCount(50);
  await page.goto(`${LEDGER}?measure=files&job=job_1&owner=sales-platform&writer=x&action=y`);
  await expect(page.getByText('No effect matches')).toBeVisible();
  const last = asked.at(-1)!.searchParams;
  expect(['measure', 'job', 'owner', 'writer', 'action'].map((name) => last.get(name))).toEqual([
    ...['files', 'job_1', 'sales-platform', 'x', 'y'],
  ]);
  await page.goto(`${LEDGER}?verdict=great&from=soon`);
  await expect(page.getByRole('group', { name: 'Address' })).toContainText('from, verdict');
});

test('pages follow the cursor, and an export has all rows that match with every digit', async ({ page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await serveLedger(page, MANY);
  await page.goto(LEDGER);
  await page.getByRole('link', { name: 'Older' }).click();
  await expect(page).toHaveURL(/cursor=50/);
  await page.getByRole('link', { name: 'Older' }).click();
  await expect(rowsOf(page)).toHaveCount(20);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: /^CSV/ }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^effects-2026-11-21T06_00\.csv$/);
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n');
  expect(lines).toHaveLength(MANY.length + 1);
  expect(lines[1]).toContain(`,${BURST_ID},rewrite_data_files,nightly_maintenance,`);
  await page.getByRole('link', { name: 'Newest' }).click();
  await expect(rowsOf(page)).toHaveCount(50);
  await page.getByRole('button', { name: /^Copy link/ }).click();
  const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  expect([link.pathname, ...['from', 'to', 'tz'].map((name) => link.searchParams.get(name))]).toEqual([
    ...[LEDGER, String(NOW - 30 * DAY), String(NOW), 'UTC'],
  ]);
});

test('what is empty says why: no operation, nothing measured, what could not be read', async ({ page }) => {
  await serveLedger(page, [], { coverage: { cuts: 0, covered: 0 }, since: NOW - 9 * DAY });
  await page.goto(LEDGER);
  await expect(page.getByText('No maintenance operation in this range')).toBeVisible();
  await expect(page.getByText('Not checked yet.')).toBeVisible();
  await expect(page.getByText('Operations before 12 Nov 2026, 06:00:00 UTC are not included.')).toBeVisible();
  await accessible(page);
  await serveLedger(page, [fresh(), fresh({ job_name: 'other', runs_after: null })], {
    notes: ['Runs could not be read: Prometheus did not respond.'],
  });
  await page.reload();
  await expect(page.getByText(/^Nothing measured yet/)).toBeVisible();
  await expect(rowsOf(page).first()).toContainText('3 of 8 runs so far');
  await expect(rowsOf(page).last()).toContainText('the number of runs is unknown');
  await expect(page.getByRole('group', { name: 'Incomplete data' })).toContainText('Runs could not be read');
});

test('by keys: g m and Enter open it, arrows move between rows, Enter opens the commit', async ({ page }) => {
  await serveLedger(page, MANY);
  await page.goto('/settings');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await page.getByRole('link', { name: 'Effects of maintenance' }).focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`${LEDGER}$`));
  await rowsOf(page).first().getByRole('link').first().focus();
  await page.keyboard.press('ArrowDown');
  await expect(rowsOf(page).nth(1).getByRole('link').first()).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`${TABLE}/commits/${BURST_ID}$`));
});

for (const width of [320, 390, 768, 1280])
  test(`${width} px: long names, open bounds and extreme ratios need no sideways scroll`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height: 844 });
    await serveLedger(page, MANY);
    await page.goto(LEDGER);
    await expect(rowsOf(page)).toHaveCount(50);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    if (width !== 768) await accessible(page); // there the header's sources are smaller than a finger, on every page
    const row = rowsOf(page).first();
    const text = (await row.getByText('14 % faster').boundingBox())!;
    const plot = (await row.locator('.plot').first().boundingBox())!;
    if (width < 768) expect(plot.y).toBeGreaterThanOrEqual(text.y + text.height);
    else if (width > 1000) expect(plot.x + plot.width).toBeLessThanOrEqual(text.x);
  });

test('a table has its newest effects below the timeline, and the way to its ledger', async ({ page }) => {
  const asked = await serveLedger(page, [
    effect(),
    fresh({ job_name: 'other' }),
    effect({ table: 'orders' }),
  ]);
  await page.goto(`${TABLE}?${NIGHT}`);
  const section = page.getByRole('region', { name: 'Effects of maintenance' });
  await expect(section.getByRole('group')).toHaveCount(2);
  await expect(section.getByRole('group').first()).toContainText('14 % faster');
  expect(asked.map((url) => url.searchParams.get('table'))).toEqual(
    asked.map(() => 'lake.sales.customer_events'),
  );
  await section.getByRole('link', { name: /^Ledger/ }).click();
  await expect(page).toHaveURL(/\/maintenance\/ledger\?table=lake\.sales\.customer_events$/);
  await expect(rowsOf(page)).toHaveCount(2);
  await page.unroute(/\/api\/v1\/effects/);
  await serveLedger(page, []);
  await page.goto(`${TABLE}?${NIGHT}`);
  await expect(section).toContainText('No compaction, other rewrite or snapshot expiry');
});

test('the timeline marks what helped, what made things worse and what changed nothing', async ({ page }) => {
  const expiry = { operation_id: 'expired:m.json', snapshot_id: null, action: 'expire_snapshots' };
  await serveLedger(page, [
    effect({ committed_at: at('03:04:12') }),
    effect({
      ...expiry,
      committed_at: at('04:10'),
      verdict: 'none',
      ratio: 1,
      ratio_low: 0.98,
      ratio_high: 1.02,
    }),
  ]);
  await page.goto(`${TABLE}?${NIGHT}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const sentence = 'This compaction made rollup_customer_events 14 % faster (8 to 19 %).';
  const mark = timeline.panel.locator(`[data-id="${BURST_ID}"]`);
  const named = new RegExp(`03:04:12 UTC.*${sentence.replaceAll(/[.()]/g, '\\$&')}`);
  await expect(mark).toHaveAttribute('title', named);
  await expect(mark).toHaveAccessibleName(named);
  const alone = timeline.panel.getByRole('img', { name: /^This snapshot expiry made no measurable change/ });
  await expect(alone).toBeVisible();
  await expect(timeline.panel.locator('[data-lane=commits] [data-verdict=helped]')).toBeVisible();
  await accessible(page);
});

test('an incident has what the last compaction did to the job; without an operation it has nothing', async ({
  page,
}) => {
  const asked = await serveLedger(page, [effect()]);
  const what = page.getByRole('region', { name: 'What happened' });
  await page.goto(linkOf(BURST_LABELS));
  await expect(what).toContainText(
    'The last compaction of this table made rollup_customer_events 14 % faster (8 to 19 %).',
  );
  expect(asked[0]!.searchParams.get('measure')).toBe('duration');
  await page.unroute(/\/api\/v1\/effects/);
  await serveLedger(page, [
    effect({ verdict: 'unknown', ratio_low: 0.88, ratio_high: 1.09, more_runs: 9, job_name: 'churn' }),
  ]);
  await page.reload();
  await expect(what).toContainText('on churn is not known yet: between −12 % and +9 %; 9 more runs');
  await page.unroute(/\/api\/v1\/effects/);
  await serveLedger(page, []);
  await page.reload();
  await expect(what).toContainText('One append at 03:04:12');
  await expect(page.getByRole('button', { name: 'Copy Summary' }).first()).toBeVisible();
  await expect(what).not.toContainText('The last');
});

test('a commit shows verdict, bounds, size and on what they rest; without a verdict, the reason', async ({
  page,
}) => {
  await page.goto(`${TABLE}/commits/${BURST_ID}`);
  const jobs = page
    .locator('section', { has: page.getByRole('heading', { name: /^Effect on jobs/ }) })
    .last();
  await expect(jobs).toContainText(
    /rollup_customer_events takes 3 times as long since the commit \(3 to 3\.1 times\)/,
  );
  await expect(jobs).toContainText(/\+106 s \(\+104 s to \+108 s\); median 52 s before, 159 s after/);
  await changeAnswer<{ effects: object[] }>(page, /\/api\/v1\/.*\/commits\/\d+$/, (body) => {
    const nothing = { ratio: null, ratio_low: null, ratio_high: null, change_s: null };
    const because = 'the controls disagree about that time';
    for (const each of body.effects) Object.assign(each, { ...nothing, verdict: 'not_separable', because });
  });
  await page.reload();
  await expect(jobs).toContainText('not separable from other changes, the controls disagree about that time');
  await expect(jobs).not.toContainText(/median|times as long|slower/);
  await jobs.getByRole('link', { name: "Effects of this table's maintenance" }).click();
  await expect(page).toHaveURL(/\/maintenance\/ledger\?table=lake\.sales\.customer_events$/);
});
