// The table page on a phone: the verdict first, four lanes, the others behind one button, a range by two taps.
import { accessible } from '../axe.ts';
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { NIGHT, TABLE } from './moment.ts';

const PHONE = { width: 390, height: 844 };
const FOUR = ['alerts', 'job_duration', 'commits', 'data_files'];

test.use({ viewport: PHONE, hasTouch: true });

test('the verdict and four lanes of 48 pixels fit on the first screen', async ({ page }) => {
  await page.goto(`${TABLE}?${NIGHT}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict).toContainText(/50,000 files of (900 kB|0\.9 MB) in one append at 03:04:12/);
  await expect(verdict).toBeInViewport({ ratio: 1 });
  const lanes = timeline.panel.locator('[data-lane]');
  expect(await lanes.evaluateAll((all) => all.map((lane) => lane.getAttribute('data-lane')))).toEqual(FOUR);
  for (const plot of await timeline.panel.locator('[data-lane] .plot').all())
    expect((await plot.boundingBox())!.height).toBe(48);
  await expect(timeline.drawing('Data files')).toBeInViewport({ ratio: 1 });
  const above = (await verdict.boundingBox())!;
  expect(above.y + above.height).toBeLessThanOrEqual((await timeline.panel.boundingBox())!.y);
  await verdict.getByRole('button', { name: 'Why' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Explain', exact: true })).toBeFocused();
  await accessible(page);
});

test('one button shows all lanes, is in the address, survives a reload and leads back', async ({ page }) => {
  await page.goto(`${TABLE}?${NIGHT}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const all = page.getByRole('button', { name: 'All lanes' });
  await expect(all).toHaveAttribute('aria-pressed', 'false');
  await all.tap();
  await expect(timeline.panel.locator('[data-lane]')).toHaveCount(9);
  await expect(page).toHaveURL(/lanes=alerts%2Cjob_duration%2Cjob_runs/);
  await page.reload();
  await timeline.drawn();
  await expect(all).toHaveAttribute('aria-pressed', 'true');
  await expect(timeline.panel.locator('[data-lane]')).toHaveCount(9);
  await all.tap();
  await expect(timeline.panel.locator('[data-lane]')).toHaveCount(4);
  await expect(page).not.toHaveURL(/lanes=/);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(timeline.panel.locator('[data-lane]')).toHaveCount(9);
  await expect(all).toBeHidden();
});

test('two taps select, and what can be done with it stays within reach', async ({ page }) => {
  await page.goto(`${TABLE}?${NIGHT}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('50,000');
  const box = (await timeline.drawing('Job duration').boundingBox())!;
  for (const share of [0.4, 0.6])
    await page.touchscreen.tap(box.x + box.width * share, box.y + box.height / 2);
  const bar = page.getByRole('toolbar', { name: 'Selection' });
  await expect(bar).toContainText(/02:2[45] – 03:3[67] 1 h 1\d m/);
  await expect(bar).toBeInViewport({ ratio: 1 });
  await page.evaluate(() => scrollTo(0, 0));
  await expect(bar).toBeInViewport({ ratio: 1 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await bar.getByRole('button', { name: 'Clear selection' }).tap();
  await expect(bar).toBeHidden();
});

test('the tools of a page take as many rows as they need: nothing is beyond the edge, nothing covers the lanes', async ({
  page,
}) => {
  for (const width of [390, 320]) {
    await page.setViewportSize({ ...PHONE, width });
    await page.goto(`${TABLE}?${NIGHT}`);
    await new TimelinePage(page).drawn();
    const header = page.locator('header').first();
    const tools = header.getByRole('button').or(header.getByRole('link')).filter({ visible: true });
    // links that skip to a part of the page are shown with the focus only
    for (const tool of await tools.filter({ hasNotText: /^Skip to/ }).all()) {
      const { x, width: wide } = (await tool.boundingBox())!;
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + wide, await tool.innerText()).toBeLessThanOrEqual(width);
    }
    await page.getByRole('button', { name: 'All lanes' }).scrollIntoViewIfNeeded();
    await expect(header).not.toBeInViewport();
  }
});
