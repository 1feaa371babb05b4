// From the finding of a burst to its repair, by clicks: its plan is approved in the dashboard, the demo's maintainer runs it
// and verifies it from the table, the timeline shows the action, and the finding closes.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, folder, limnograph, test } from './fixtures.ts';
import { TimelinePage } from '../timeline.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const TABLE = 'marketing.leads';
const PAGE = '/t/lake/marketing/leads';

interface Finding {
  finding_id: string;
  state: string;
  closed_by: string | null;
  cause: { snapshot_ids: string[] } | null;
}

test('a plan of the burst is approved, runs, is verified, and closes the finding', async ({
  page,
  request,
}) => {
  test.setTimeout(7 * MINUTE);
  await expect.poll(() => existsSync(join(folder, 'running.json')), { timeout: MINUTE }).toBe(true);
  const made = await promisify(execFile)(limnograph, [
    ...['demo', 'burst', '--dir', folder, '--table', TABLE],
    ...['--files', '1200', '--wait', '0'],
  ]);
  const [, burst = ''] = /\(snapshot (\d+)\)/.exec(made.stderr) ?? [];
  const findings = async (state: string) => {
    const answer = await request.get(
      `/api/v1/findings?code=file_burst&table=lake.${TABLE}&state=${state}&limit=100`,
    );
    const { rows } = (await answer.json()) as { rows: Finding[] };
    return rows.find(({ cause }) => cause?.snapshot_ids.includes(burst));
  };
  await expect.poll(() => findings('open'), { timeout: MINUTE, intervals: [SECOND] }).toBeTruthy();
  const id = (await findings('open'))!.finding_id;

  // The maintainer plans once a minute; the page was opened from a link and does not wait for it.
  await page.goto(`/findings/${id}`);
  const next = page.getByRole('region', { name: 'Next action' });
  const plan = next.getByRole('link', { name: 'Waiting for a decision' });
  await expect(async () => {
    await page.reload();
    await expect(plan).toBeVisible({ timeout: 5 * SECOND });
  }).toPass({ timeout: 3 * MINUTE });
  await expect(next).toContainText(/files become\s+1\./);
  await plan.click();

  const decision = page.getByRole('group', { name: 'Decision' });
  await decision.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByRole('button', { name: 'Approve and run' }).click();
  await expect(decision).toContainText('Done and verified', { timeout: 2 * MINUTE });
  const promise = decision.getByRole('table', { name: 'Promise and result' });
  const cells = promise.getByRole('row', { name: /^Files written/ }).getByRole('cell');
  await expect(cells).toHaveText(['1', '1']);

  await expect
    .poll(() => findings('closed'), { timeout: MINUTE, intervals: [SECOND] })
    .toMatchObject({ finding_id: id, state: 'closed' });
  await page.goto(`/findings/${id}`);
  await expect(page.getByRole('region', { name: 'Finding' })).toContainText(
    new RegExp(`Recovered at .* by snapshot ${(await findings('closed'))!.closed_by}`),
  );
  // The bar of the action stands above the commit that it made.
  await page.goto(`${PAGE}?from=now-15m`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await expect(timeline.drawing('Maintenance')).toBeVisible();
});
