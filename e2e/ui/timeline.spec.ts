// One time axis: crosshair, selection, keyboard, words for who does not see it.
import { readFileSync } from 'node:fs';
import { TimelinePage } from '../timeline.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { at, BURST_AT, BURST_ID, NIGHT, TABLE } from './moment.ts';
import type { Commit, Timeline } from './wire.ts';

const LEFT_TO_RIGHT = [at('02:24'), at('03:36')] as const;

async function night(timeline: TimelinePage): Promise<void> {
  await timeline.page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
}

test('Synchronized cursor', async ({ page }) => {
  const timeline = new TimelinePage(page);
  await night(timeline);
  const lines = timeline.panel.locator('line.cursor');
  for (const lane of ['Job duration', 'Data files', 'Freshness']) {
    await timeline.hover(lane, 0.5);
    const box = (await timeline.drawing(lane).boundingBox())!;
    await expect(async () => {
      const places = await lines.evaluateAll((all) => all.map((line) => line.getBoundingClientRect().x));
      expect(places.length).toBeGreaterThanOrEqual(7);
      expect(new Set(places.map((x) => x.toFixed(1))).size).toBe(1);
      expect(Math.abs(places[0]! - (box.x + box.width / 2))).toBeLessThan(2);
    }).toPass();
    // 03:00: before the burst
    await expect(timeline.gutter('Data files')).toHaveText('1,202');
    await expect(timeline.gutter('Job duration')).toHaveText(/^\d\d s/);
    await expect(timeline.gutter('File size')).toHaveText(/^\d+ MB/);
    await expect(timeline.gutter('Delete files')).toHaveText(/^0/);
  }
});

test('Brush', async ({ page }) => {
  const timeline = new TimelinePage(page);
  await night(timeline);
  const before = await timeline.range();
  await timeline.drag('Data files', 0.4, 0.6);
  await expect(page).toHaveURL(new RegExp(`sel=${LEFT_TO_RIGHT.join('..')}`));
  await page.keyboard.press('z');
  await expect.poll(() => timeline.range()).toEqual(LEFT_TO_RIGHT);
  await expect(page).toHaveURL(new RegExp(`from=${LEFT_TO_RIGHT[0]}.*to=${LEFT_TO_RIGHT[1]}`));
  await expect(timeline.drawing('Job duration')).toHaveAccessibleName(/at 0[23]:\d\d/);
  await page.reload();
  await timeline.drawn();
  expect(await timeline.range()).toEqual(LEFT_TO_RIGHT);
  await page.goBack();
  await page.goBack();
  await expect.poll(() => timeline.range()).toEqual(before);
});

test('No-drag range', async ({ page }) => {
  const timeline = new TimelinePage(page);
  await night(timeline);
  // typed, in the range control
  await page.getByRole('button', { name: /Change the time range/ }).click();
  await page.getByLabel('From', { exact: true }).fill('2026-11-21 02:24');
  await page.getByLabel('To', { exact: true }).fill('2026-11-21 03:36');
  await page.getByLabel('To', { exact: true }).press('Enter');
  await expect.poll(() => timeline.range()).toEqual(LEFT_TO_RIGHT);
  // the address follows what is shown: only then is there something to go back from
  await expect(page).toHaveURL(/from=2026/);
  await page.goBack();
  await expect.poll(async () => (await timeline.range())[0]).toBe(at('00:00'));
  const before = page.url();
  // two clicks in the overview
  const overview = timeline.panel.getByRole('img', { name: /^Overview/ });
  const start = page.getByRole('slider', { name: 'Start of the range' });
  await expect(overview).toBeVisible();
  const [first, last] = await Promise.all(
    ['aria-valuemin', 'aria-valuemax'].map(async (name) => Number(await start.getAttribute(name))),
  );
  const box = (await overview.boundingBox())!;
  for (const moment of LEFT_TO_RIGHT)
    await page.mouse.click(
      box.x + (box.width * (moment - first!)) / (last! - first!),
      box.y + box.height / 2,
    );
  await expect
    .poll(async () =>
      (await timeline.range()).map((end, i) => Math.abs(end - LEFT_TO_RIGHT[i]!) <= 5 * 60_000),
    )
    .toEqual([true, true]);
  await expect(page).not.toHaveURL(before);
  await page.goBack();
  await expect.poll(async () => (await timeline.range())[0]).toBe(at('00:00'));
  // with the keyboard alone: to the left edge, then the selection grows to the right
  await timeline.slider.focus();
  await page.keyboard.press('Home');
  await timeline.steps('PageUp', at('02:24'));
  await timeline.steps('ArrowRight', at('02:24'));
  for (let i = 0; i < 14; i += 1) await page.keyboard.press('Shift+PageUp');
  for (let i = 0; i < 4; i += 1) await page.keyboard.press('Shift+ArrowRight');
  await expect(page).toHaveURL(new RegExp(`sel=${LEFT_TO_RIGHT.join('..')}`));
  await page.keyboard.press('z');
  await expect.poll(() => timeline.range()).toEqual(LEFT_TO_RIGHT);
});

test('Keyboard cause-finding', async ({ page }) => {
  const timeline = new TimelinePage(page);
  await night(timeline);
  for (const letter of [']', 'z', 'c', 'w', 'd']) await page.locator('body').press(letter);
  await expect(page).toHaveURL(`${TABLE}?${NIGHT}`);
  for (let i = 0; i < 60; i += 1) {
    if (await timeline.slider.evaluate((element) => element === document.activeElement)) break;
    await page.keyboard.press('Tab');
  }
  await expect(timeline.slider).toBeFocused();
  await page.keyboard.press('Home');
  for (let i = 0; i < 60; i += 1) {
    if ((await timeline.slider.getAttribute('aria-valuetext'))?.includes('03:04:12')) break;
    await page.keyboard.press(']');
  }
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`c=${BURST_ID}`));
  const open = page.getByRole('link', { name: /open commit/i });
  await expect(open).toBeVisible();
  for (let i = 0; i < 60; i += 1) {
    if (await open.evaluate((element) => element === document.activeElement)) break;
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`${TABLE}/commits/${BURST_ID}`));
  await expect(page.getByRole('main')).toContainText('+50,000');
});

test('Screen reader text', async ({ page }) => {
  const timeline = new TimelinePage(page);
  await night(timeline);
  await timeline.slider.focus();
  await page.keyboard.press('Home');
  await expect(timeline.slider).toHaveAttribute(
    'aria-valuetext',
    /^21 Nov 00:00:00 UTC, job duration \d+ s, data files 1,167, delete files 0$/,
  );
  await page.keyboard.press('End');
  await expect(timeline.slider).toHaveAttribute(
    'aria-valuetext',
    /job duration \d+ s, median \d+ s, data files/,
  );
  await expect(timeline.drawing('Job duration')).toHaveAccessibleName(
    /Median of the latest runs: lowest 5\d s/,
  );
  for (const lane of ['Job duration', 'Data files', 'File size', 'Delete files', 'Freshness'])
    await expect(timeline.drawing(lane)).toHaveAccessibleName(
      /lowest .+ at \d\d:\d\d, highest .+ at \d\d:\d\d/,
    );
  await expect(timeline.drawing('Data files')).toHaveAccessibleName(/highest 51,2\d\d at 0\d:\d\d/);
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: 'View as table' }).click();
  await expect(page.getByRole('row', { name: /^21 Nov 00:00:00/ })).toContainText('1,167');
});

test('Cluster', async ({ page, stub }) => {
  stub.nearest = true; // what explains the range of the cluster is not recorded
  const first = at('04:10');
  let like: Commit | undefined;
  const crowd = (body: Timeline) => {
    const lane = body.lanes.find(({ id }) => id === 'commits')!;
    like ??= lane.events!.find(({ t }) => t === BURST_AT)!;
    lane.events = Array.from({ length: 12 }, (_, i) => ({
      ...like!,
      snapshot_id: String(1000 + i),
      t: first + i * 20_000,
      added_data_files: 100 * (i + 1),
    }));
  };
  await changeAnswer<Timeline>(page, /\/timeline\?/, crowd);
  const timeline = new TimelinePage(page);
  await night(timeline);
  const cluster = timeline.panel.getByRole('button', {
    name: /^12 commits .*largest: Append .*\+1,200 files/,
  });
  await expect(cluster).toHaveCount(1);
  await cluster.click();
  await expect(cluster).toHaveCount(0);
  await timeline.panel.getByRole('button', { name: /^2 commits 04:10:00 to 04:10:20 UTC/ }).click();
  await expect(
    timeline.panel.getByRole('button', { name: /^Append 04:10:00 UTC, \+100 files/ }),
  ).toBeVisible();
  await expect(
    timeline.panel.getByRole('button', { name: /^Append 04:10:20 UTC, \+200 files/ }),
  ).toBeVisible();
});

test('Compare', async ({ page }) => {
  // the recording knows nothing of the day before: then, there were a hundred files less
  await changeAnswer<Timeline>(page, /\/timeline\?.*cmp=/, (body) => {
    const now = body.lanes.find(({ id }) => id === 'data_files')!;
    const before = body.cmp!.lanes.find(({ id }) => id === 'data_files')!;
    Object.assign(before, { status: 'ok', v: now.v!.map((value) => value && value - 100) });
  });
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?from=${at('05:00')}&to=${at('06:00')}&lanes=data_files,job_duration`);
  await timeline.drawn();
  await expect(timeline.panel.locator('path.earlier')).toHaveCount(0);
  await timeline.slider.focus();
  await page.keyboard.press('c');
  await expect(page).toHaveURL(/cmp=1d/);
  const ghost = timeline.panel.locator('path[data-earlier=data_files]');
  await expect(ghost).toHaveCSS('stroke-dasharray', /\d/);
  expect((await ghost.getAttribute('d'))?.length).toBeGreaterThan(10);
  await expect(timeline.gutter('Data files').locator('.change')).toHaveText('+100');
  await expect(timeline.panel.getByText('Δ 1 d')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Compare/ })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('c');
  await expect(page).not.toHaveURL(/cmp=/);
  await expect(timeline.panel.getByText('Δ 1 d')).toHaveCount(0);
  await expect(ghost).toHaveCount(0);
});

test('Zone', async ({ page, stub }) => {
  test.slow(); // six pages
  const axis = page.locator('.row.axis'); // the overview above has labels too
  const timeline = new TimelinePage(page);
  await night(timeline);
  // the browser lives in New York, five hours behind
  expect(await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)).toBe(
    'America/New_York',
  );
  await expect(timeline.panel.getByText('Sat 21 Nov UTC')).toBeVisible();
  await expect(axis.getByText('03:00', { exact: true })).toBeVisible();
  const range = page.getByRole('button', { name: /Change the time range/ });
  await expect(range).toHaveText(/^00:00 – 06:00 UTC/);
  const before = await timeline.range();

  await range.click();
  await page.getByRole('radio', { name: 'Browser, America/New_York' }).check();
  await expect(range).toHaveText(/^20 Nov 19:00 – 21 Nov 01:00 UTC−05/);
  await expect(timeline.panel.getByText('20 Nov – 21 Nov UTC−05')).toBeVisible();
  await expect(axis.getByText('22:00', { exact: true })).toBeVisible();
  await expect(timeline.slider).toHaveAttribute('aria-valuetext', /^21 Nov 0[01]:\d\d:\d\d UTC−05/);
  expect(await timeline.range()).toEqual(before);
  // what is typed means that clock: 22:04 in New York is 03:04 in the picture of before
  await expect(page.getByLabel('From', { exact: true })).toHaveValue('2026-11-20 19:00');
  await page.getByLabel('From', { exact: true }).fill('2026-11-20 21:24');
  await page.getByLabel('To', { exact: true }).fill('2026-11-20 22:36');
  await page.getByLabel('To', { exact: true }).press('Enter');
  await expect.poll(() => timeline.range()).toEqual(LEFT_TO_RIGHT);
  await page.getByRole('button', { name: 'View as table' }).click();
  await expect(page.getByRole('columnheader', { name: 'Time, America/New_York' })).toBeVisible();
  await expect(page.getByRole('row', { name: /^20 Nov 22:3\d:\d\d/ }).first()).toBeVisible();
  // programs get UTC, and a link shows everybody the clock that was seen
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Share' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  expect(readFileSync(await (await download).path(), 'utf8')).toContain('\n2026-11-21T02:24:00Z,');
  await page.getByRole('button', { name: 'Copy Link', exact: true }).click();
  const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  expect(link.searchParams.get('tz')).toBe('America/New_York');
  await page.keyboard.press('Escape');

  // the choice is kept; an address that names a zone goes before it
  await page.goto(`${TABLE}?${NIGHT}`);
  await expect(range).toHaveText(/UTC−05/);
  await page.goto(`${TABLE}?${NIGHT}&tz=Asia/Kolkata`);
  await expect(range).toHaveText(/^05:30 – 11:30 UTC\+05:30/);
  await page.goto(`${TABLE}?${NIGHT}&tz=Mars/Olympus`);
  await expect(page.getByRole('group', { name: 'Address' })).toContainText('tz');
  await expect(range).toHaveText(/UTC−05/);

  // on the first of November New York sets its clocks back
  await changeAnswer<Timeline>(page, /\/timeline\?/, (body) => {
    body.range = { ...body.range, from: Date.UTC(2026, 10, 1, 3), to: Date.UTC(2026, 10, 1, 9) };
  });
  await stub.rename(`from=${Date.UTC(2026, 10, 1, 3)}&to=${Date.UTC(2026, 10, 1, 9)}`, NIGHT);
  await page.goto(`${TABLE}?from=${Date.UTC(2026, 10, 1, 3)}&to=${Date.UTC(2026, 10, 1, 9)}`);
  await expect(timeline.panel.getByText('31 Oct – 1 Nov UTC−04 → −05')).toBeVisible();
  await expect(timeline.panel.getByText(/^01:[03]0 −05$/)).toBeVisible();
});
