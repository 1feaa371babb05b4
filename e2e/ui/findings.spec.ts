// What is wrong with tables: the list, one finding, and findings in the fleet and on a table's page.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { TimelinePage } from '../timeline.ts';
import {
  behind,
  burst,
  BURST_FINDING,
  giveFindings,
  jobSilent,
  MANY,
  repaired,
  REPAIR_ID,
  schemaChange,
  serveFindings,
  slower,
  unheard,
} from './finding-story.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { at, BURST_ID, NIGHT, TABLE } from './moment.ts';
import { shiftOf, shiftsOf, watch } from './vitals.ts';
import { sideways } from './ways.ts';

const FINDINGS = '/findings';
const STORY = [burst(), behind(), schemaChange(), repaired()];
const rowsOf = (page: Page) => page.getByRole('list', { name: /findings/i }).getByRole('group');

test('the list shows severity, table, cause, effect and age, and leads to the commit and the moment', async ({
  page,
}) => {
  await serveFindings(page, STORY);
  await page.goto('/status');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await expect(page).toHaveURL(new RegExp(`${FINDINGS}$`));
  await expect(
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Findings' }),
  ).toHaveAttribute('aria-current', 'page');
  await expect(rowsOf(page)).toHaveCount(3);
  const [first, second] = [rowsOf(page).nth(0), rowsOf(page).nth(1)];
  await expect(first).toHaveAccessibleName('Critical: Data files rose from 1,202 to 51,202 at once');
  await expect(first).toContainText(
    'rollup_customer_events takes 3.1× as long (2.6 to 3.7), 108 s more per run',
  );
  await expect(first).toContainText('2 h 56 m');
  await expect(first).toContainText('3rd time in 30 days');
  const cause = first.getByRole('link', {
    name: 'demo_burst added 50,000 files, 0.9 MB on average, at 03:04:12 UTC',
  });
  await expect(cause).toHaveAttribute('href', `${TABLE}/commits/${BURST_ID}`);
  await expect(second).toContainText(
    'Compaction is 1,499 files behind: it would rewrite 1,520 of 1,620 data files',
  );
  await expect(second).toContainText('etl added 90 % of the data files since the last maintenance');
  await expect(second).toContainText('The effect on jobs is not measured');
  await first.getByRole('link').first().focus();
  await page.keyboard.press('ArrowDown');
  await expect(second.getByRole('link').first()).toBeFocused();
  await accessible(page);
  await expect(first.getByRole('link', { name: /^Timeline/ })).toHaveAttribute(
    'href',
    new RegExp(`^${TABLE}\\?.*at=${at('03:04:12')}.*c=${BURST_ID}$`),
  );
});

test('filters are in the address, pages follow the cursor, an export has all rows', async ({ page }) => {
  const asked = await serveFindings(page, MANY);
  await page.goto(FINDINGS);
  await expect(rowsOf(page)).toHaveCount(50);
  await page
    .getByRole('list', { name: 'Severities' })
    .getByRole('link', { name: /^Warning 40/ })
    .click();
  await expect(page).toHaveURL(/severity=warning/);
  await expect(rowsOf(page)).toHaveCount(40);
  await expect(page.getByRole('list', { name: 'Severities' })).toContainText('Critical 40');
  await page.getByRole('combobox', { name: 'Table: any' }).click();
  await page.getByRole('option', { name: 'lake.sales.t1' }).click();
  await expect(page).toHaveURL(/table=lake\.sales\.t1/);
  await page.getByRole('combobox', { name: 'Code: any' }).click();
  await page.getByRole('option', { name: 'partition skew' }).click();
  await expect(page.getByText('No finding matches')).toBeVisible();
  expect(['severity', 'table', 'code', 'state'].map((name) => asked.at(-1)!.searchParams.get(name))).toEqual([
    ...['warning', 'lake.sales.t1', 'partition_skew', 'open'],
  ]);
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await expect(page).toHaveURL(new RegExp(`${FINDINGS}$`));
  await page.getByRole('link', { name: 'More' }).click();
  await expect(page).toHaveURL(/cursor=50/);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: /^CSV/ }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe('findings-2026-11-21T06_00.csv');
  expect(
    readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\r\n'),
  ).toHaveLength(MANY.length + 1);
  await page.goto(`${FINDINGS}?severity=bad&code=x`);
  await expect(page.getByRole('group', { name: 'Address' })).toContainText('severity, code');
});

test('what is closed recovered or expired, and nothing open is an all-clear only once all is read', async ({
  page,
}) => {
  const expired = repaired({ finding_id: 'e'.repeat(32), code: 'schema_changed', closed_by: 'expired' });
  await serveFindings(page, [repaired(), expired]);
  await page.goto(FINDINGS);
  await expect(page.getByText('Nothing is wrong with any table')).toBeVisible();
  await expect(page.getByText(/^Evaluated with metadata read at 21 Nov 2026, .* UTC\.$/)).toBeVisible();
  await accessible(page);
  await page.getByRole('link', { name: 'Recently closed' }).click();
  await expect(page).toHaveURL(/state=closed/);
  await expect(rowsOf(page).first()).toContainText(`Recovered at 05:30 UTC by snapshot ${REPAIR_ID}`);
  await expect(rowsOf(page).first().getByRole('link', { name: REPAIR_ID })).toHaveAttribute(
    'href',
    `${TABLE}/commits/${REPAIR_ID}`,
  );
  await expect(rowsOf(page).last()).toContainText('Expired at 05:30 UTC');
  await page.unroute(/\/api\/v1\/findings/);
  await serveFindings(page, [], { not_evaluated: 3, notes: ['The meta tables could not be read: timeout.'] });
  await page.goto(FINDINGS);
  await expect(page.getByText('No finding so far')).toBeVisible();
  await expect(page.getByText('3 tables are still being read.')).toBeVisible();
  await expect(page.getByRole('group', { name: 'Incomplete data' })).toContainText('meta tables');
});

test('a row opens the finding: cause, effects, evidence with units, history, earlier ones, a summary', async ({
  page,
}) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await serveFindings(page, [
    burst({ effects: [slower(), { ...unheard(), job_name: 'daily_revenue' }] }),
    behind(),
  ]);
  await page.goto(FINDINGS);
  await rowsOf(page).first().getByRole('link').first().click();
  await expect(page).toHaveURL(new RegExp(`${FINDINGS}/${BURST_FINDING}$`));
  await expect(page).toHaveTitle(/^file burst sales\.customer_events/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(
    'Data files rose from 1,202 to 51,202 at once',
  );
  const effects = page.getByRole('region', { name: 'Effect on jobs' });
  await expect(effects).toContainText('3.1× (2.6 to 3.7)');
  await expect(effects).toContainText(
    'No run of daily_revenue has ended since; the last one ended at 03:01 UTC.',
  );
  await expect(page.getByRole('region', { name: 'Evidence' })).toContainText(/Bytes added\s*45 GB/);
  await expect(page.getByRole('region', { name: 'History' })).toContainText('from warning to critical');
  await expect(page.getByRole('region', { name: 'Seen before' }).getByRole('link')).toHaveCount(1);
  await accessible(page);
  await page.getByRole('button', { name: 'Copy summary as Markdown' }).click();
  const summary = await page.evaluate(() => navigator.clipboard.readText());
  expect(summary).toMatch(/^\*\*Critical: Data files rose from 1,202 to 51,202 at once\*\*\n/);
  expect(summary).toContain(
    `- Cause: demo_burst added 50,000 files, 0.9 MB on average, at 03:04:12 UTC (commit \`${BURST_ID}\`)`,
  );
  expect(summary).toMatch(new RegExp(`${FINDINGS}/${BURST_FINDING}\\?tz=UTC\n$`));
});

test('a finding of readers names the column and the share, and leads to the page of reads', async ({
  page,
}) => {
  await serveFindings(page, [
    burst({
      ...{ code: 'filter_not_pruned', group: 'readers', subject: 'customer_id', severity: 'warning' },
      ...{ cause: null, effects: [] },
      evidence: { share: 0.83, scans: 412, opened_share: 0.9, threshold_share: 0.5 },
    }),
  ]);
  await page.goto(`${FINDINGS}/${BURST_FINDING}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(
    '83 % of scans filter customer_id, which neither partitions nor sorts the table; they open 90 % of its files',
  );
  const evidence = page.getByRole('region', { name: 'Evidence' });
  await expect(evidence).toContainText(/Share of scans\s*83 %/);
  await expect(evidence).toContainText(/Scans of 7 days\s*412/);
  await expect(page.getByRole('main')).toContainText('Sort or partition the table by the column');
  await accessible(page);
  await expect(page.getByRole('link', { name: 'Reads', exact: true })).toHaveAttribute(
    'href',
    '/t/lake/sales/customer_events/reads',
  );
});

test('an unknown finding is not found, and leads back to the list', async ({ page, complaints }) => {
  await serveFindings(page, STORY);
  await page.goto(`${FINDINGS}/${'a'.repeat(32)}`);
  await expect(page.getByRole('heading', { name: 'No such finding' })).toBeVisible();
  await page.getByRole('link', { name: 'All findings' }).click();
  await expect(rowsOf(page)).toHaveCount(3);
  complaints.length = 0;
});

test('M1: the fleet shows the worst finding of a table instead of its reason, others as chips', async ({
  page,
}) => {
  await giveFindings(page, [burst(), behind({ table: 'customer_events' })]);
  await serveFindings(page, STORY);
  // the alert that fires for the table is about the burst
  await changeAnswer<{ rows: { table: { table: string } | null; finding: unknown }[] }>(
    page,
    /\/alerts\?/,
    ({ rows }) => {
      for (const row of rows.filter(({ table }) => table?.table === 'customer_events')) row.finding = burst();
    },
  );
  await page.goto('/');
  const attention = page.getByRole('region', { name: 'Needs attention now' });
  const row = attention.getByRole('listitem').filter({ hasText: 'sales.customer_events' }).first();
  await expect(row).toContainText('Data files rose from 1,202 to 51,202 at once.');
  await expect(row).toContainText('rollup_customer_events takes 3.1× as long');
  await expect(row.getByRole('link', { name: 'small files' })).toBeVisible();
  await expect(
    page.getByRole('row', { name: /customer_events/ }).getByRole('link', { name: '+1 more findings' }),
  ).toBeVisible();
  await accessible(page);
  await row.getByRole('link', { name: /^Data files rose/ }).click();
  await expect(page).toHaveURL(new RegExp(`${FINDINGS}/${BURST_FINDING}$`));
});

test('M3: a job that fell silent is named on the fleet and on its table', async ({ page }) => {
  const said = 'No run of rollup_customer_events has ended since 05:05 UTC; it usually runs every 5 m';
  await giveFindings(page, [jobSilent()]);
  await page.goto('/');
  await expect(page.getByRole('region', { name: 'Fleet status' })).toContainText('1 job silent');
  const attention = page.getByRole('region', { name: 'Needs attention now' });
  await expect(
    attention.getByRole('link', { name: 'Warning job silent: rollup_customer_events' }),
  ).toBeVisible();
  await page.goto(`${TABLE}?${NIGHT}`);
  await expect(page.getByRole('region', { name: 'Findings', exact: true })).toContainText(said);
});

test('a table shows its worst finding in full, others as chips, what recovered in green; nothing moves', async ({
  page,
}) => {
  const effects = [unheard()];
  await giveFindings(page, [burst({ effects }), behind({ table: 'customer_events' }), repaired()]);
  await watch(page);
  await page.goto(`${TABLE}?${NIGHT}`);
  await new TimelinePage(page).drawn();
  const section = page.getByRole('region', { name: 'Findings', exact: true });
  await expect(section).toContainText('Data files rose from 1,202 to 51,202 at once');
  await expect(section).toContainText(
    'No run of rollup_customer_events has ended since; the last one ended at 03:01 UTC.',
  );
  await expect(section).not.toContainText(/no effect/i);
  await expect(section.getByRole('link', { name: /^demo_burst added/ })).toHaveAttribute(
    'href',
    `${TABLE}/commits/${BURST_ID}`,
  );
  await expect(section.getByRole('link', { name: 'small files' })).toBeVisible();
  await expect(section).toContainText(`Recovered at 05:30 UTC by snapshot ${REPAIR_ID}`);
  await expect(page.getByRole('region', { name: 'Table state' })).toContainText('2 open findings');
  expect(await shiftOf(page), JSON.stringify(await shiftsOf(page))).toBeLessThan(0.02);
  await accessible(page);
  await expect(section.getByRole('link', { name: /^Show .* on the timeline$/ })).toHaveAttribute(
    'href',
    new RegExp(`c=${BURST_ID}$`),
  );
});

for (const width of [320, 390, 768])
  test(`${width} px: the list needs no sideways scroll, and a row has few lines`, async ({ page }) => {
    await page.setViewportSize({ width, height: 844 });
    await serveFindings(page, MANY);
    await page.goto(FINDINGS);
    await expect(rowsOf(page)).toHaveCount(50);
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    if (width === 390) await accessible(page);
    await page.goto(`${FINDINGS}/${MANY[0]!.finding_id}`);
    await expect(page.getByRole('region', { name: 'Seen before' })).toBeVisible();
    expect(await sideways(page)).toBeLessThanOrEqual(0);
  });

test('an event of the stream reloads the list and the finding', async ({ page, stub }) => {
  await serveFindings(page, [behind()]);
  await page.goto(FINDINGS);
  await expect(rowsOf(page)).toHaveCount(1);
  await expect.poll(() => stub.streams).toBe(1);
  await page.unroute(/\/api\/v1\/findings/);
  await serveFindings(page, [burst(), behind()]);
  const { finding_id, catalog, table, code, severity, state } = burst();
  const event = { finding_id, catalog, table_namespace: 'sales', table, code, severity, state };
  stub.tell('finding', event, 'e-1');
  await expect(rowsOf(page)).toHaveCount(2);
  await expect(rowsOf(page).first()).toHaveAccessibleName(/^Critical/);
});
