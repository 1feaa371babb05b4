// The reader's own view: marks, the order of lanes and their axes, kept by the address.
import { accessible } from '../axe.ts';
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { at, NIGHT, TABLE } from './moment.ts';

test('marks, order and axes of lanes are in the address, send no request and survive a reload', async ({
  page,
}) => {
  const timeline = new TimelinePage(page);
  let asked = 0;
  page.on('request', (request) => (asked += /\/timeline\?.*step=/.test(request.url()) ? 1 : 0));
  await page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
  expect(asked).toBe(1);

  await page.locator('body').press('m');
  await timeline.slider.press('Home');
  await timeline.slider.press('m');
  await expect(page).toHaveURL(new RegExp(`marks=${at('00:00')}`));
  await expect(page.getByRole('list', { name: 'Marks' })).toContainText('00:00:00');

  await page.getByRole('button', { name: 'Lanes' }).click();
  await page.getByRole('button', { name: 'Move down: Alerts' }).click();
  await page.getByRole('button', { name: 'log axis: Data files' }).click();
  await page.keyboard.press('Escape');
  const names = timeline.panel.locator('[data-lane] h3');
  for (const reloaded of [false, true]) {
    if (reloaded) {
      await page.reload();
      await timeline.drawn();
    }
    await expect(page).toHaveURL(/lanes=job_duration%2Calerts%2C.*log=data_files%2Cfile_size/);
    await expect(names.first()).toHaveText('Job duration');
    await expect(timeline.panel.locator('[data-lane=data_files] .unit')).toHaveText(/log$/);
    await expect(page.getByRole('button', { name: /^Remove mark 1/ })).toBeVisible();
    expect(asked).toBe(reloaded ? 2 : 1);
  }
  await page.getByRole('button', { name: /^Remove mark 1/ }).click();
  await expect(page).not.toHaveURL(/marks=/);
});

test("a lane's menu works by keyboard: what was asked and answered is copied, the lane goes to the top", async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
  const more = timeline.panel.getByRole('button', { name: 'Data files: more' });
  const menu = page.getByRole('dialog', { name: 'Data files, lane' });
  await more.press('Enter');
  await expect(menu.getByRole('button', { name: 'Move to top' })).toBeFocused();
  await accessible(page);
  await menu.getByRole('button', { name: 'Copy Data files as SQL' }).press('Enter');
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  expect(await copied()).toMatch(/^SELECT committed_at, total_data_files FROM /);
  await menu.getByRole('button', { name: 'Copy Data files as CSV' }).press('Enter');
  expect(await copied()).toContain('2026-11-21T03:04:30Z,51202');
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
  await expect(more).toBeFocused();
  await expect(page).toHaveURL(new RegExp(`${NIGHT}$`)); // Escape closed the menu and did nothing else
  await more.press('Enter');
  await menu.getByRole('button', { name: 'Move to top' }).press('Enter');
  await expect(timeline.panel.locator('[data-lane] h3').first()).toHaveText(/Data files/);
  await expect(more).toBeFocused();
  await timeline.panel.getByRole('button', { name: 'Job duration: more' }).press('Enter');
  await expect(page.getByRole('link', { name: 'Open in Prometheus' })).toHaveAttribute(
    'href',
    /^http:\/\/metrics\.example:9090\/graph\?g0\.expr=/,
  );
});
