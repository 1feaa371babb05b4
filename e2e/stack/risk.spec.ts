// Tables at risk, forecast by the demo's pipeline: the log whose compaction stopped is, the log like it is not.
import { expect, test } from './fixtures.ts';

const MINUTE = 60_000;

test('from the fleet to the one table at risk, and its look-alike is not in the list', async ({
  page,
  request,
}) => {
  test.setTimeout(5 * MINUTE);
  const listed = async (): Promise<number> => {
    const answer = await request.get('/api/v1/forecasts?table=lake.ops.error_logs&state=not_at_risk');
    return ((await answer.json()) as { rows: unknown[] }).rows.length;
  };
  // the pipeline forecasts between two passes, soon after its start
  await expect.poll(listed, { timeout: 4 * MINUTE, intervals: [2_000] }).toBeGreaterThan(0);

  await page.goto('/');
  const line = page.getByRole('region', { name: 'At risk', exact: true });
  await expect(line).toContainText(
    /ops\.access_logs:\s+Small files will probably pass 10,000 .*\(\d of 10\)\./,
  );
  await line.getByRole('link', { name: 'At risk' }).click();
  await expect(page).toHaveURL(/\/forecasts$/);
  const rows = page.getByRole('list', { name: 'At risk' }).getByRole('group');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText(/the compaction that came every 24 h is \d+ h overdue/);

  await page
    .getByRole('navigation', { name: 'State' })
    .getByRole('link', { name: /^Not at risk/ })
    .click();
  await expect(page.getByRole('list', { name: 'Not at risk' })).toContainText('ops.error_logs');
  await page.goBack();

  await rows.getByRole('link').first().click();
  await expect(page).toHaveURL(/\/t\/lake\/ops\/access_logs\/forecast$/);
  await expect(page.getByText(/Small files will probably pass 10,000/).first()).toBeVisible();
});
