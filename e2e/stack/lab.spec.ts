// The laboratory of the demo: what real jobs read of a sorted and an unsorted table, and tables of other formats.
import { accessible } from '../axe.ts';
import { expect, test } from './fixtures.ts';

const MINUTE = 60_000;

test('a sorted table is skipped where an unsorted one is read, and its filters say why', async ({ page }) => {
  test.setTimeout(6 * MINUTE);
  const skipped = async (table: string) => {
    const answer = await page.request.get(`/api/v1/tables/lake/lab/${table}/reads`);
    if (!answer.ok()) return -1;
    const { total } = (await answer.json()) as { total: { scans: number; skipped_share: number | null } };
    return total.scans > 0 ? (total.skipped_share ?? -1) : -1;
  };
  // the jobs take their first turn half a minute after the demo is up, and the pipeline passes every half minute
  await expect.poll(() => skipped('visits_sorted'), { timeout: 5 * MINUTE }).toBeGreaterThan(0.9);
  await expect.poll(() => skipped('visits')).toBeLessThan(0.5);
  await page.goto('/t/lake/lab/visits/reads');
  const filters = page.getByRole('region', { name: 'Filters' });
  await expect(filters).toContainText('which neither partitions nor sorts the table');
  await expect(filters.getByRole('listitem').filter({ hasText: 'customer' })).toBeVisible();
  await expect(page.getByRole('row', { name: /visits_report/ })).toBeVisible();
  await accessible(page);
});

test('tables of Delta and Hudi are listed with their commits', async ({ page }) => {
  for (const table of ['devices', 'parcels']) {
    await page.goto(`/t/files/lab/${table}/commits`);
    await expect(page.getByRole('row', { name: /append/i }).first()).toBeVisible();
  }
});
