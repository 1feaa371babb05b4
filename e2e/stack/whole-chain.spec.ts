// From a commit to its incident through all that is real: `limnograph demo burst` writes files, a gauge moves, a rule of the
// shipped rules fires, Alertmanager tells the server, and the link of the alert opens the page of its incident.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../browser.ts';
import { expect, folder, test } from './fixtures.ts';

test('a burst on request fires, and its link opens the incident that names its commit', async ({ page }) => {
  test.setTimeout(300_000);
  // the server answers before the demo says that all of it is up
  await expect.poll(() => existsSync(join(folder, 'running.json')), { timeout: 60_000 }).toBe(true);
  const { stdout, stderr } = await promisify(execFile)(join(root, '.venv/bin/limnograph'), [
    ...['demo', 'burst', '--dir', folder, '--table', 'marketing.campaigns'],
    ...['--files', '1500', '--wait', '180'],
  ]);
  const [, snapshot] = /\(snapshot (\d+)\)/.exec(stdout + stderr) ?? [];
  expect(snapshot).toBeTruthy();
  const link = stdout.trim().split('\n').at(-1) ?? '';
  expect(link).toContain('/a?alertname=SmallFileProliferation&');

  await page.goto(link);
  await expect(page).toHaveURL(/\/alerts\/[0-9a-f]{16}\?starts_at=\d{13}$/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('SmallFileProliferation');
  const what = page.getByRole('region', { name: 'What happened' });
  await expect(what).toContainText('added 1,500 files of');
  await expect(page.getByRole('region', { name: 'Do next' }).getByRole('listitem').first()).toBeVisible();
  await what.getByRole('link', { name: 'Open commit' }).click();
  await expect(page).toHaveURL(new RegExp(`/t/lake/marketing/campaigns/commits/${snapshot}`));
});
