// What is taken away from a page is what the server said: every digit, the whole question, the frozen range.
import { readFileSync } from 'node:fs';
import { TimelinePage } from '../timeline.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { BURST_ID, NIGHT, NOW, TABLE } from './moment.ts';
import { readAll } from './recordings.ts';
import type { Timeline } from './wire.ts';

test('64-bit id', async ({ page, stub }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${TABLE}?${NIGHT}&c=${BURST_ID}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await page.getByRole('button', { name: 'Share' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  expect(readFileSync(await (await download).path(), 'utf8')).toContain(`append ${BURST_ID}`);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: /open commit/i }).click();
  await expect(page).toHaveURL(new RegExp(`/commits/${BURST_ID}(\\?|$)`));
  await expect(page.getByText(BURST_ID, { exact: true }).first()).toBeVisible();
  await page
    .getByRole('button', { name: /^Copy .*id/i })
    .first()
    .click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(BURST_ID);
  const answer = await page.request.get(`${stub.url}/api/v1/tables${TABLE.slice(2)}/commits/${BURST_ID}`);
  expect(await answer.text()).toContain(`"snapshot_id":"${BURST_ID}"`);
});

test('Schema change without snapshot', async ({ page, stub }) => {
  stub.nearest = true; // a slow page asks for effects before the schema is clicked
  const timeline = new TimelinePage(page);
  await page.goto(`/t/lake/marketing/campaigns?${NIGHT}`);
  await timeline.drawn();
  await expect(timeline.drawing('Schema, spec')).toHaveAccessibleName(
    /s0 · p0 from .* until 01:42:00; s1 · p0 from 01:42:00 until/,
  );
  await expect(timeline.panel.getByRole('button', { name: /01:42:00/ })).toHaveCount(0);
  await changeAnswer<{ versions: { kind: string; changes: object[] }[] }>(
    page,
    /\/campaigns\/schema/,
    (body) => {
      const version = body.versions.find(({ kind, changes }) => kind === 'schema' && changes.length)!;
      version.changes = [{ ...version.changes[0], kind: 'renamed', before: 'chanel', after: 'channel' }];
    },
  );
  await page.getByRole('link', { name: 'Schema', exact: true }).click();
  await expect(page).toHaveURL(/\/t\/lake\/marketing\/campaigns\/schema/);
  const change = page.getByRole('listitem').filter({ hasText: '01:42:00' }).first();
  await expect(change).toContainText(/Renamed\s+channel\s+from chanel to\s+channel/);
  await expect(change).toContainText('field 5');
});

test('Copy', async ({ page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.goto(`${TABLE}?from=now-6h`);
  await new TimelinePage(page).drawn();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'Copy Link', exact: true }).click();
  const link = new URL(await copied());
  expect(link.pathname).toBe(TABLE);
  expect([link.searchParams.get('from'), link.searchParams.get('to')]).toEqual([
    String(NOW - 6 * 3_600_000),
    String(NOW),
  ]);

  const asked = `${TABLE.slice(2)}/timeline?detail=true&${NIGHT.split('&')[0]}&`;
  const answer = [...readAll().values()].find((each) => each.asked.includes(asked))!;
  const lane = (id: string) => (answer.body as Timeline).lanes.find((each) => each.id === id)!;
  await page.getByRole('button', { name: 'Copy Job duration as PromQL' }).click();
  await expect.poll(copied).toBe(lane('job_duration').query!.promql);
  await page.getByRole('button', { name: 'Copy Data files as SQL' }).click();
  await expect.poll(copied).toBe(lane('data_files').query!.sql);

  await page.getByRole('button', { name: 'Copy Summary' }).click();
  const summary = await copied();
  expect(summary).toContain('**lake.sales.customer\\_events**');
  expect(summary).toContain(`\`${BURST_ID}\``);
  expect(summary.trimEnd().endsWith(link.href)).toBe(true);
});
