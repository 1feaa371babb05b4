// The reader's own view: marks, the order of lanes and their axes, kept by the address.
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { at, NIGHT, TABLE } from './moment.ts';

test('marks, order and axes of lanes stand in the address, ask the server nothing and survive a reload', async ({
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
  await page.getByRole('button', { name: 'Down: Alerts' }).click();
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
