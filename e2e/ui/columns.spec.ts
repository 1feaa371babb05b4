// The page of columns: what the recorded answer says, by keyboard and on a phone, and what it says without statistics.
import { accessible } from '../axe.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { BURST_ID, NIGHT, TABLE } from './moment.ts';
import { sideways } from './ways.ts';

const PATH = `${TABLE}/columns?${NIGHT}`;
const COLUMNS = /\/api\/v1\/.*\/columns\?/;

interface Columns {
  columns: unknown[];
  commits: number;
  not_known: string | null;
}

test('from the timeline by the tab: the null share that jumped, its commit, and what is private', async ({
  page,
}) => {
  await page.goto(`${TABLE}?${NIGHT}`);
  await page
    .getByRole('navigation', { name: 'Table pages' })
    .getByRole('link', { name: 'Columns' })
    .press('Enter');
  await expect(page).toHaveURL(/\/columns\?from=/);
  await expect(page.getByRole('region', { name: 'Column summary' })).toContainText(
    'The null share of customer_id moved most: between 0.4 % and 33 %.',
  );
  const columns = page.getByRole('region', { name: 'Columns of the table' });
  await expect(columns.getByRole('row', { name: /customer_email/ })).toContainText('private: counts only');
  await page.getByRole('button', { name: 'Table', exact: true }).press('Enter');
  const points = page.getByRole('region', { name: 'Column by time' });
  await expect(points.getByRole('link', { name: BURST_ID })).toHaveAttribute('href', /\/commits\/5184430069/);
  await columns.getByRole('button', { name: 'amount' }).press('Enter');
  await expect(page.getByRole('heading', { name: 'Null share and bounds of amount' })).toBeVisible();
  await accessible(page);
});

test('without statistics it says why, in the dark on a phone too', async ({ page }) => {
  const nothing = { columns: [], commits: 0, not_known: 'Of Delta tables they are not known.' };
  await changeAnswer<Columns>(page, COLUMNS, (body) => Object.assign(body, nothing));
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(PATH);
  await expect(page.getByRole('main')).toContainText('Of Delta tables they are not known.');
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await accessible(page);
});
