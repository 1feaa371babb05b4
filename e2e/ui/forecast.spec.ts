// Tables at risk: the list, its three states, a table's forecast, and the fan on the lanes of its timeline.
import type { Page } from '@playwright/test';
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { NO_RECORD, risk, risksAnswer, RISKS, SIZE, tableRisksAnswer } from './forecast-story.ts';
import { NOW, TABLE } from './moment.ts';
import { shiftOf, watch } from './vitals.ts';
import type { Timeline } from './wire.ts';

const DAY = 86_400_000;
const rowsOf = (page: Page, name = 'At risk') => page.getByRole('list', { name }).getByRole('group');
const serve = (page: Page, more: object, rows = RISKS) =>
  page.route(/\/api\/v1\/forecasts\?/, (route) =>
    route.fulfill({ json: risksAnswer(rows, new URL(route.request().url()).searchParams, more) }),
  );

test('from the fleet to the list, by line, by keys and by palette', async ({ page }) => {
  await page.goto('/');
  const line = page.getByRole('region', { name: 'At risk', exact: true });
  await expect(line).toContainText(
    'sales.customer_events: Small files will probably pass 10,000 between Tue and Thu (7 of 10).',
  );
  await line.getByRole('button', { name: 'The 3 tables to look at this week' }).click();
  await expect(rowsOf(page, 'Tables to look at this week')).toHaveCount(4);
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await expect(page).toHaveURL(/\/forecasts$/);
  await expect(page).toHaveTitle('At risk · Limnograph');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('option', { name: /^At risk/ }).first()).toBeVisible();
});

test('a row is a sentence with range, odds, cause and what maintenance would change', async ({ page }) => {
  await page.goto('/forecasts');
  const [first, last] = [rowsOf(page).first(), rowsOf(page).last()];
  await expect(first).toContainText(
    /Small files will probably pass 10,000 between Tue and Thu \(7 of 10\)\..*Why: 1,900 a day come in, the compaction that came every 24 h is 60 h overdue\..*With compaction now: 1 of 10\./s,
  );
  await expect(rowsOf(page).nth(2)).toContainText('the table itself grows, which is not damage');
  // less likely than not: no date
  await expect(last).toContainText('Manifests could pass 500 within 7 days (4 of 10).');
  await first.getByRole('link').first().focus();
  await page.keyboard.press('ArrowDown');
  await expect(rowsOf(page).nth(1).getByRole('link').first()).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`${TABLE}/forecast$`));
  await expect(page).toHaveTitle(/^Forecast · sales\.customer_events/);
});

test('red now, at risk and cannot say are three lists; filters are in the address', async ({ page }) => {
  await page.goto('/forecasts');
  const state = (name: RegExp) => page.getByRole('navigation', { name: 'State' }).getByRole('link', { name });
  await state(/^Red now/).click();
  // a list: until its answer arrives, the rows of the one before are shown
  await expect(rowsOf(page, 'Red now')).toHaveText([/Small files have passed 10,000: 12,300 now\./]);
  await state(/^Cannot say/).click();
  await expect(page).toHaveURL(/state=cannot_say/);
  await expect(rowsOf(page, 'Cannot say')).toHaveCount(5);
  for (const row of await rowsOf(page, 'Cannot say').all())
    await expect(row).toContainText(/Cannot say, because .+\./);
  await page.goBack();
  await state(/^At risk/).click();
  await page.getByRole('combobox', { name: 'Metric: any' }).click();
  await page.getByRole('option', { name: 'manifests' }).click();
  await expect(rowsOf(page)).toHaveCount(1);
  await page.goto('/forecasts?owner=no-such-team');
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await expect(page).toHaveURL(/\/forecasts$/);
  await page.goto('/forecasts?state=maybe');
  await expect(page.getByRole('group', { name: 'Address' })).toContainText('state');
});

test('the list is copied as Markdown, with names that stay text', async ({ page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await serve(page, {}, [risk({ table: '[x](http://evil.example)' })]);
  await page.goto('/forecasts');
  await page.getByRole('button', { name: 'Copy list as Markdown' }).click();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toMatch(/^\*\*At risk\*\*, forecast of 21 Nov 2026, 05:00:00 UTC\n\n- lake\.sales\.\\\[x\\\]/);
  expect(text).toMatch(/between Tue and Thu \(7 of 10\)\..*\n\nhttp:\/\/.*\/forecasts\?tz=UTC\n$/s);
});

test('a budget of tables, the others are unfolded; track record, bytes and money', async ({ page }) => {
  const many = Array.from({ length: 14 }, (_, i) => risk({ table: `t${i}`, table_uuid: `u-${i}` }));
  await serve(page, {}, many);
  await page.goto('/forecasts');
  await expect(rowsOf(page)).toHaveCount(10);
  await page.getByText("4 more, beyond this week's 10 tables").click();
  await expect(rowsOf(page, 'Beyond this week')).toHaveCount(4);
  await expect(page.getByRole('region', { name: 'Track record' })).toContainText(
    'Of the last 40 warnings 31 came true, median notice 37 h; 12 crossings were not foreseen; 4 warnings were acted upon',
  );
  await expect(page.getByRole('region', { name: 'Track record' })).toContainText(
    'The newest forecasts are those of the model that ships with Limnograph.',
  );
  const size = page.getByRole('region', { name: 'Bytes and cost ahead' });
  await expect(size).toContainText('1.2 TB now; 1.3 TB to 1.7 TB in 30 days (8 of 10)');
  await expect(size).toContainText('29.90 to 39.10 USD a month then');
});

test('no forecast yet, an old one, one without prices and without outcomes', async ({ page }) => {
  const none = { as_of: null, track_record: NO_RECORD, bytes: { ...SIZE, bytes_p10: null, currency: null } };
  await serve(page, none, []);
  await page.goto('/forecasts');
  await expect(page.getByRole('main')).toContainText(/No forecast yet.*limnograph forecast --once/s);
  await expect(page.getByText('No warning and no crossing is recorded yet.')).toBeVisible();
  await page.goto('/');
  const line = page.getByRole('region', { name: 'At risk', exact: true });
  await expect(line).toContainText('No forecast yet: limnograph forecast --once makes one.');
  await page.unroute(/\/api\/v1\/forecasts\?/);
  await serve(page, { as_of: NOW - 3 * DAY, bytes: { ...SIZE, cost_p50: null, currency: null } });
  await page.goto('/forecasts');
  await expect(page.getByRole('group', { name: 'Stale data' })).toContainText('The forecast is 3 d old');
  await expect(page.getByText('No price is configured: set [prices] to see the cost.')).toBeVisible();
});

test('the fan: a week ahead on the lanes of a table, and back', async ({ page, stub }) => {
  stub.nearest = true;
  await watch(page);
  // what was recorded ends at the present: the server answers the same, and nothing right of it
  await page.route(/\/timeline\?/, async (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const answer = await route.fetch();
    const body = (await answer.json()) as Timeline & { range: { from: number; to: number } };
    if (Number(asked.get('to')) > NOW)
      Object.assign(body.range, { from: Number(asked.get('from')), to: Number(asked.get('to')) });
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto(TABLE);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const card = page.getByRole('region', { name: 'Forecast' });
  await expect(card).toContainText('Small files will probably pass 10,000');
  await expect(timeline.panel.locator('[data-fan]')).toHaveCount(0);
  await expect.poll(() => shiftOf(page)).toBeLessThan(0.02);
  await card.getByRole('button', { name: '7 days ahead' }).click();
  await expect(page).toHaveURL(/from=now-7d&to=now%2B7d/);
  // only the lane that has a forecast
  await expect(timeline.panel.locator('[data-fan]')).toHaveCount(1);
  await expect(timeline.drawing('Delete files')).toHaveAccessibleName(
    /forecast: 1 to 2 by Sun 22 Nov, 2 to 5 by Sat 28 Nov.*\(8 of 10\), threshold 3/,
  );
  await expect.poll(async () => (await timeline.range())[1]).toBe(NOW + 7 * DAY);
  // zoom and selection work right of the present too
  await timeline.drag('Delete files', 0.6, 0.9);
  await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Zoom' }).click();
  await expect.poll(async () => (await timeline.range())[0]).toBeGreaterThan(NOW);
  await expect(timeline.panel.locator('[data-fan] path').first()).toBeVisible();
  await page.goBack();
  await card.getByRole('button', { name: '7 days ahead' }).click();
  await expect(timeline.panel.locator('[data-fan]')).toHaveCount(0);
});

test('from a table to its forecast, by click and by keys, with or without one', async ({ page }) => {
  for (const none of [false, true]) {
    if (none)
      await page.route(/\/tables\/[^?]*\/forecast$/, (route) =>
        route.fulfill({ json: tableRisksAnswer({ as_of: null, rows: [], fans: [] }) }),
      );
    await page.goto(TABLE);
    await new TimelinePage(page).drawn();
    const card = page.getByRole('region', { name: 'Forecast' });
    await expect(card).toContainText(none ? 'No forecast yet' : 'Small files will probably pass 10,000');
    const link = card.getByRole('link', { name: 'Forecast' });
    await (none ? link.press('Enter') : link.click());
    await expect(page).toHaveURL(new RegExp(`${TABLE}/forecast$`));
    await expect(page).toHaveTitle(/^Forecast · sales\.customer_events/);
  }
});

test('a table without a forecast, and a forecast page without fans', async ({ page }) => {
  const nothing = tableRisksAnswer({ rows: [], fans: [], notes: ['The newest rows were not read.'] });
  await page.route(/\/api\/.*\/forecast$/, (route) => route.fulfill({ json: nothing }));
  await page.goto(`${TABLE}/forecast`);
  await expect(page.getByRole('main')).toContainText('No forecast of this table');
  await expect(page.getByRole('group', { name: 'Incomplete data' })).toContainText('were not read');
  await expect(page.getByRole('heading', { name: 'Levels ahead' })).toHaveCount(0);
});
