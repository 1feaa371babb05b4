// From a commit to its incident through all that is real: `limnograph demo burst` writes files, a gauge moves, a rule of the
// shipped rules fires, Alertmanager tells the server, and the link of the alert opens the page of its incident.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../browser.ts';
import { expect, folder, serve, test } from './fixtures.ts';
import { alertsOf, forgetfulAlertmanager } from './forgetful-alertmanager.ts';

const TABLE = 'marketing.campaigns';
const INCIDENT = /\/alerts\/[0-9a-f]{16}\?starts_at=\d{13}$/;
/** Addresses of the demo's settings. */
const urlOf = (section: string) =>
  new RegExp(`\\[${section}\\]\\s*url = "(.*?)"`).exec(
    readFileSync(join(folder, 'limnograph.toml'), 'utf8'),
  )?.[1] ?? '';

test('a burst on request fires, and its link opens the incident that names its commit', async ({ page }) => {
  test.setTimeout(300_000);
  // the server answers before the demo says that all of it is up
  await expect.poll(() => existsSync(join(folder, 'running.json')), { timeout: 60_000 }).toBe(true);
  const { stdout, stderr } = await promisify(execFile)(join(root, '.venv/bin/limnograph'), [
    ...['demo', 'burst', '--dir', folder, '--table', TABLE],
    ...['--files', '1500', '--wait', '180'],
  ]);
  const [, snapshot] = /\(snapshot (\d+)\)/.exec(stdout + stderr) ?? [];
  expect(snapshot).toBeTruthy();
  const link = stdout.trim().split('\n').at(-1) ?? '';
  expect(link).toContain('/a?alertname=SmallFileProliferation&');

  await page.goto(link);
  await expect(page).toHaveURL(INCIDENT);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('SmallFileProliferation');
  const what = page.getByRole('region', { name: 'What happened' });
  await expect(what).toContainText(/added [\d,]+ files/);
  await expect(page.getByRole('region', { name: 'Do next' }).getByRole('listitem').first()).toBeVisible();
  const ways = page.getByRole('group', { name: 'Links' });
  const hrefOf = (name: RegExp) => ways.getByRole('link', { name }).getAttribute('href');
  expect(await hrefOf(/^Runbook/)).toContain('/docs/runbooks/small-file-proliferation');
  expect(await hrefOf(/^Prometheus/)).toContain(`${urlOf('prometheus.main')}/graph?g0.expr=`);
  for (const [name, hash] of [
    [/^Alertmanager/, '#/alerts?filter='],
    [/^Silence/, '#/silences/new?filter='],
  ] as const)
    expect(await hrefOf(name)).toContain(`${urlOf('alertmanager')}/${hash}`);
  // an earlier burst that was not compacted belongs to the same finding
  const found = await page.request.get('/api/v1/findings?code=file_burst&table=lake.marketing.campaigns');
  const { rows } = (await found.json()) as { rows: { cause: { snapshot_ids: string[] } }[] };
  const causes = rows[0]?.cause.snapshot_ids ?? [];
  expect(causes).toContain(snapshot);
  await what.getByRole('link', { name: 'Open commit' }).click();
  await expect(page).toHaveURL(new RegExp(`/t/lake/marketing/campaigns/commits/(${causes.join('|')})`));
});

test('the link of that alert opens its incident also after Alertmanager has forgotten it', async ({
  page,
}) => {
  test.setTimeout(120_000);
  expect(await alertsOf(urlOf('alertmanager'))).toContain('SmallFileProliferation campaigns');
  const forgetful = await forgetfulAlertmanager();
  await expect.poll(() => alertsOf(forgetful.url), { timeout: 30_000 }).toEqual([]);
  // neither of the two that this server asks has it: no Prometheus listens on that port
  const server = await serve((toml) =>
    toml
      .replace(urlOf('alertmanager'), forgetful.url)
      .replace(urlOf('prometheus.main'), 'http://127.0.0.1:9')
      .concat(`\n[inbox]\nurl = "sqlite:///${join(folder, '.limnograph', 'inbox.db')}"\n`),
  );
  try {
    const [namespace = '', table = ''] = TABLE.split('.');
    const labels = {
      alertname: 'SmallFileProliferation',
      catalog: 'lake',
      table_namespace: namespace,
      table,
    };
    await page.goto(`${server.url}/a?${new URLSearchParams(labels)}`);
    await expect(page).toHaveURL(INCIDENT);
    await expect(page.getByRole('heading', { level: 1 })).toContainText('SmallFileProliferation');
    // this server has just begun: its watcher reads what the pipeline has not written yet
    await expect(page.getByRole('region', { name: 'What happened' })).toContainText(/added [\d,]+ files/, {
      timeout: 60_000,
    });
    const told = page.getByRole('region', { name: 'Labels and transitions' });
    await told.getByText('Labels and transitions').click();
    await expect(told).toContainText('alertmanager');
  } finally {
    await page.goto('about:blank'); // its stream would complain of a server that is gone
    await server.stop();
    await forgetful.stop();
  }
});
