// The loop, live: a burst opens a finding, which has no data yet, then an effect with bounds; its plan is approved, and the
// maintainer's compaction closes it; the ledger measures what that did. Everything is real but the durations of the jobs.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { APIRequestContext } from '@playwright/test';
import { authorized } from '../demo-token.ts';
import { closeBreakers, expect, folder, limnograph, type Story, tablePath, test } from './fixtures.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

interface Effect {
  job_name: string;
  verdict: string;
  because: string;
  ratio: number | null;
  ratio_low: number | null;
  ratio_high: number | null;
  runs: number;
}
interface Finding {
  finding_id: string;
  state: string;
  severity: string;
  closed_by: string | null;
  cause: { snapshot_ids: string[]; writer: string | null } | null;
  effects: Effect[];
}

/** Runs `limnograph demo VERB`; returns all that it printed. */
async function demo(verb: string, ...more: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(limnograph, ['demo', verb, '--dir', folder, ...more]);
  return stdout + stderr;
}

/** Findings of bursts of the story's table whose cause is a commit. */
async function findingOf(api: APIRequestContext, story: Story, cause: string): Promise<Finding | undefined> {
  const query = new URLSearchParams({ table: story.table, code: 'file_burst', limit: '100' });
  const answer = await api.get(`/api/v1/findings?${query}`);
  const closed = await api.get(`/api/v1/findings?${query}&state=closed`);
  const rows = [answer, closed].map(async (one) => ((await one.json()) as { rows: Finding[] }).rows);
  return (await Promise.all(rows)).flat().find((each) => each.cause?.snapshot_ids.includes(cause));
}

interface Plan {
  state: string;
  result: { snapshot_ids: string[] } | null;
}

/** Approves the plan that merges the files of a burst, and waits until it is verified. Returns its commit. */
async function approve(api: APIRequestContext, story: Story): Promise<string> {
  await closeBreakers(api);
  const query = new URLSearchParams({ state: 'proposed', rule: 'compact', q: story.table });
  interface Row {
    seq: number;
    arguments_sha256: string;
    recommendation: { plan_id: string };
  }
  const proposed = async () => {
    const answer = await api.get(`/api/v1/maintenance?${query}`);
    return ((await answer.json()) as { rows: Row[] }).rows[0];
  };
  await expect.poll(proposed, { timeout: 3 * MINUTE, intervals: [SECOND] }).toBeTruthy();
  const { seq, arguments_sha256, recommendation } = (await proposed())!;
  const path = `/api/v1/maintenance/${recommendation.plan_id}`;
  const answer = await api.post(`${path}/approve`, {
    headers: authorized(),
    data: { seq, arguments_sha256 },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
  const plan = async () => (await (await api.get(path)).json()) as Plan;
  const state = async () => (await plan()).state;
  await expect.poll(state, { timeout: 3 * MINUTE, intervals: [SECOND] }).toMatch(/^(verified|measured)$/);
  return (await plan()).result?.snapshot_ids[0] ?? '';
}

test.describe.configure({ mode: 'serial' });
/** The maintainer's compaction in the first test. */
let repair = '';

test('a burst becomes a finding with an effect with bounds, and its approved plan closes it', async ({
  page,
  request,
  story,
}) => {
  test.setTimeout(16 * MINUTE);
  const job = story.slowdown.job_name;
  // the server answers before the demo says that all of it is up
  await expect.poll(() => existsSync(join(folder, 'running.json')), { timeout: MINUTE }).toBe(true);
  const printed = await demo('burst', '--files', '1200', '--wait', '180');
  const [, burst = ''] = /\(snapshot (\d+)\)/.exec(printed) ?? [];
  const [, incident = ''] = /(\/alerts\/[0-9a-f]{16}\?starts_at=\d{13})/.exec(printed) ?? [];
  const now = async () => findingOf(request, story, burst);
  const effect = async () => (await now())?.effects.find((each) => each.job_name === job);

  await expect.poll(now, { timeout: MINUTE, intervals: [SECOND] }).toMatchObject({ state: 'open' });
  const said = async () => ((found) => `${found?.verdict}: ${found?.because}`)(await effect());
  await expect.poll(said, { timeout: MINUTE }).toMatch(/^no_data_yet: [0-4] of 5 runs$/);
  const { finding_id: id = '' } = (await now()) ?? {};
  await page.goto(`/findings/${id}`);
  const effects = page.getByRole('region', { name: 'Effect on jobs' });
  await expect(effects.getByRole('row', { name: new RegExp(job) })).toContainText('no data yet');

  // Five runs of the slowed job, each of which takes about 110 s.
  await expect.poll(effect, { timeout: 12 * MINUTE, intervals: [5 * SECOND] }).toMatchObject({
    verdict: 'slower',
  });
  const { ratio, ratio_low: low, ratio_high: high } = (await effect())!;
  expect(low!).toBeGreaterThan(1.25);
  expect(low!).toBeLessThanOrEqual(ratio!);
  expect(high!).toBeGreaterThanOrEqual(ratio!);
  expect(high!).toBeLessThan(5);
  await expect.poll(now, { timeout: MINUTE }).toMatchObject({ state: 'open', severity: 'critical' });
  await expect(page.getByRole('region', { name: 'Finding' })).toContainText('Critical');
  await expect(effects.getByRole('row', { name: new RegExp(job) })).toContainText(
    /\d\.\d× \(\d\.\d to \d\.\d\)/,
  );

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy summary as Markdown' }).click();
  const summary = await page.evaluate(() => navigator.clipboard.readText());
  expect(summary).toMatch(/^\*\*Critical: Data files rose from [\d,]+ to [\d,]+ at once\*\*\n/);
  expect(summary).toMatch(/\n- Table: lake\.sales\.customer_events \(file burst\)\n/);
  expect(summary).toMatch(/\n- State: .+/);
  expect(summary).toMatch(/\n- Opened: .+ UTC\n/);
  expect(summary).toContain(`(commit \`${burst}\`)`);
  expect(summary).toMatch(
    new RegExp(
      `\\n- Effect: ${job.replaceAll('_', '\\\\?_')} takes \\d\\.\\d× as long .*\\d\\.\\d to \\d\\.\\d`,
    ),
  );
  expect(summary).toMatch(new RegExp(`\\n\\nhttps?://\\S+/findings/${id}\\S*\\n$`));

  repair = await approve(request, story);
  expect(repair).not.toBe('');
  await expect
    .poll(now, { timeout: MINUTE, intervals: [SECOND] })
    .toMatchObject({ state: 'closed', closed_by: repair });
  await expect(page.getByRole('region', { name: 'Finding' })).toContainText(
    new RegExp(`Recovered at .* by snapshot ${repair}`),
  );
  await page.goto(tablePath(story));
  await expect(page.getByRole('region', { name: 'Findings', exact: true })).toContainText(
    `by snapshot ${repair}`,
  );
  // The alert of the burst is about a rate: it may still fire. Its page must not blame another commit for it. An alert
  // that an earlier burst began, and this one only prolongs, is about the earlier commit.
  if (printed.includes('which prolongs it')) return;
  await page.goto(incident);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('SmallFileProliferation');
  await expect(
    page.getByRole('region', { name: 'What happened' }).getByRole('link', { name: 'Open commit' }),
  ).toHaveAttribute('href', new RegExp(`/commits/${burst}`));
});

test('the ledger measures what the approved compaction did to the job', async ({ page, request, story }) => {
  test.setTimeout(13 * MINUTE);
  const job = story.slowdown.job_name;
  // It is measured after eight runs.
  const ledger = async () => {
    const answer = await request.get('/api/v1/effects?limit=200');
    const { rows } = (await answer.json()) as {
      rows: { operation_id: string; job_name: string; measure: string; verdict: string | null }[];
    };
    return rows.find(
      (row) => row.operation_id === repair && row.job_name === job && row.measure === 'duration',
    )?.verdict;
  };
  await expect.poll(ledger, { timeout: 12 * MINUTE, intervals: [5 * SECOND] }).toBe('helped');
  await page.goto('/maintenance/ledger');
  const effects = page.getByRole('list', { name: 'Effects, newest operation first' });
  await expect(
    effects.getByRole('group', { name: /by limnograph-maintain made .* faster/ }).first(),
  ).toBeVisible();
});
