// One time axis: the crosshair, the selection, the range in the URL, the same numbers as a table.
import { readFileSync } from 'node:fs';
import { expect, tablePath, test } from './fixtures.ts';
import { TimelinePage } from '../timeline.ts';

const HOUR = 3_600_000;

test('the crosshair is at the same x in every lane and the gutter shows values', async ({
  page,
  story,
  around,
}) => {
  await page.goto(`${tablePath(story)}?${around}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await timeline.hover('Data files', 0.6);
  const places = await timeline.panel
    .locator('line.cursor')
    .evaluateAll((lines) => lines.map((line) => line.getBoundingClientRect().x));
  expect(places.length).toBeGreaterThanOrEqual(6);
  expect(new Set(places.map((x) => x.toFixed(2))).size).toBe(1);
  const box = await timeline.drawing('Data files').boundingBox();
  expect(Math.abs((places[0] ?? 0) - ((box?.x ?? 0) + (box?.width ?? 0) * 0.6))).toBeLessThan(2);
  await expect(timeline.panel.getByText(/^51,2\d\d$/).first()).toBeVisible();
});

test('dragging selects, Z zooms, reload keeps it, Back restores', async ({ page, story, around }) => {
  await page.goto(`${tablePath(story)}?${around}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const before = await timeline.range();
  await timeline.drag('Data files', 0.4, 0.6);
  await expect(page.getByRole('toolbar', { name: 'Selection' })).toBeVisible();
  await expect(page).toHaveURL(/sel=/);
  await page.keyboard.press('z');
  await expect
    .poll(async () => (await timeline.range())[1] - (await timeline.range())[0])
    .toBeLessThan(1.5 * HOUR);
  const zoomed = await timeline.range();
  await expect(page).toHaveURL(new RegExp(`from=${zoomed[0]}.*to=${zoomed[1]}`));
  await page.reload();
  await timeline.drawn();
  expect(await timeline.range()).toEqual(zoomed);
  await page.goBack();
  await page.goBack();
  await expect.poll(() => timeline.range()).toEqual(before);
});

test('a preset shows the hours before now, and the zone is UTC in New York too', async ({ page, story }) => {
  await page.goto(tablePath(story));
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const [from, to] = await timeline.range();
  expect(to - from).toBeGreaterThanOrEqual(24 * HOUR);
  expect(to - from).toBeLessThan(24.5 * HOUR);
  expect(await timeline.slider.getAttribute('aria-valuetext')).toContain('UTC');
});

test('the table view has the numbers of the lanes', async ({ page, story, around }) => {
  await page.goto(`${tablePath(story)}?${around}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await timeline.slider.focus();
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: 'View as table' }).click();
  await expect(timeline.panel.getByRole('columnheader', { name: /data files/i })).toBeVisible();
  await expect(timeline.panel.getByRole('cell', { name: /^1,\d{3}$/ }).first()).toBeVisible();
});

test('C compares with the period before, in the lanes and in the URL, and off again', async ({
  page,
  story,
  around,
}) => {
  await page.goto(`${tablePath(story)}?${around}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await timeline.slider.focus();
  await page.keyboard.press('c');
  await expect(page).toHaveURL(/cmp=1d/);
  await expect(timeline.panel.getByText('Δ 1 d')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Compare/ })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('c');
  await expect(page).not.toHaveURL(/cmp=/);
});

test('a copied link has its range frozen, and the CSV keeps every digit of an id', async ({
  page,
  story,
}) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const since = Math.ceil((Date.now() - story.burst.at) / HOUR) + 1;
  await page.goto(`${tablePath(story)}?from=now-${since}h`);
  await new TimelinePage(page).drawn();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'Copy Link', exact: true }).click();
  const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  expect(link.pathname).toBe(tablePath(story));
  expect(Number(link.searchParams.get('from'))).toBeLessThan(story.burst.at);
  expect(Number(link.searchParams.get('to'))).toBeGreaterThan(story.burst.at);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const file = await (await download).path();
  expect(readFileSync(file, 'utf8')).toContain(`append ${story.burst.snapshot_id}`);
});

test('an unknown table says what to do, without a complaint of the page', async ({ page, complaints }) => {
  await page.goto('/t/lake/sales/no_such_table');
  await expect(page.getByRole('main')).toContainText('no_such_table');
  await expect(page.getByRole('main').getByRole('link').first()).toBeVisible();
  // The browser itself notes a 404 answer; nothing else may complain.
  expect(complaints.every((text) => /status of 404/.test(text))).toBe(true);
  complaints.length = 0;
});
