// Why the job slowed down: the selection explained, no cause, a compaction that comes every day, and what a person says.
import type { Page } from '@playwright/test';
import { TimelinePage } from '../timeline.ts';
import { accessible } from '../axe.ts';
import { changeAnswer, expect, expectOnly, test } from './fixtures.ts';
import { at, BURST_ID, NIGHT, NOW, TABLE } from './moment.ts';
import { withoutBurst } from './without.ts';
import type { Explained, Hypothesis, Timeline } from './wire.ts';

const FINGERPRINT = '5f0c3c9e1a2b3c4d';
const ASKED = /\/explain\?/;
const panel = (page: Page) => page.getByRole('region', { name: 'Explain' });
const sentence = (page: Page) => panel(page).locator('.verdict');

async function night(page: Page, more = ''): Promise<TimelinePage> {
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?${NIGHT}${more}`);
  await timeline.drawn();
  return timeline;
}

/** What an answer says of its first change, weighed otherwise. */
const weighed = (body: Explained, posteriors: Partial<Record<Hypothesis['kind'], number>>): void => {
  const { explanation } = body;
  const index = explanation.changes.findIndex((change) => change.effect_ratio > 1);
  const rest = explanation.hypotheses.filter((each) => each.change !== index);
  const told = Object.entries(posteriors).map(([kind, posterior]) => ({
    ...explanation.hypotheses.find((each) => each.change === index && each.kind === kind),
    kind: kind as Hypothesis['kind'],
    posterior,
    change: index,
  }));
  explanation.hypotheses = [...told.sort((a, b) => b.posterior - a.posterior), ...rest];
  explanation.blamed = [];
};

test('Explain selection', async ({ page }) => {
  const timeline = await night(page, `&sel=${at('03:00')}..${at('03:30')}`);
  await timeline.slider.focus();
  await page.keyboard.press('e');
  await expect(sentence(page)).toHaveText(
    /^Most likely: 50,000 files of (900 kB|0\.9 MB) in one append at 03:04:12\.$/,
  );
  const suspect = panel(page).locator('details').first();
  await expect(suspect).toContainText('48 s before');
  await expect(panel(page)).toContainText(/from 52 s to 1\d\d s \(3\.\d×\) at 03:05:00/);
  await expect(panel(page)).toContainText(/\+1\d\d s \(95 %: \+1\d\d to \+1\d\d s\)/);
  await expect(suspect).toContainText('Evidence against');
  await expect(suspect).toContainText('declared');
  await expect(panel(page).getByRole('link', { name: 'Open commit' })).toHaveAttribute(
    'href',
    new RegExp(`/commits/${BURST_ID}$`),
  );
  await expect(panel(page)).toContainText('Files added per commit');
  // four times the selection, just before it
  await expect(panel(page)).toContainText('baseline 01:00 – 03:00');
  const shade = (await timeline.panel.locator('.baseline').boundingBox())!;
  const lane = (await timeline.drawing('Data files').boundingBox())!;
  expect(Math.abs(shade.x - (lane.x + lane.width / 6))).toBeLessThan(3);
  expect(Math.abs(shade.width - lane.width / 3)).toBeLessThan(3);
  await accessible(page);
});

test('No cause', async ({ page }) => {
  await withoutBurst(page);
  const timeline = await night(page);
  await expect(sentence(page)).toHaveText(
    /^No commit explains the slowdown from 52 s to 1\d\d s: CPU went from 0\.31 cores to 0\.44 cores \(1\.4×\) at 03:0[5-9]:\d\d\.$/,
  );
  await expect(panel(page).getByText('none', { exact: true })).toBeVisible();
  const first = panel(page).locator('.rows .row').first();
  await expect(first).toContainText('No known explanation');
  await expect(first).toContainText('80 %');
  await expect(panel(page)).not.toContainText(/caused/i);
  // what was asked and did not move, and what nobody tells, stand beside it
  await expect(panel(page)).toContainText('16 other jobs compared: none changed the same way');
  await expect(panel(page)).toContainText('Executors flat at 1.');
  await expect(panel(page)).toContainText('Unknown: job load, spill to disk.');
  await accessible(page);
  // CPU is offered: one key shows its lane under the job's own axis
  await expect(timeline.drawing('CPU')).toHaveCount(0);
  await panel(page).getByRole('button', { name: 'Show CPU' }).press('Enter');
  await expect(timeline.drawing('CPU')).toBeVisible();
  await expect(page).toHaveURL(/lanes=[^&]*cpu/);
  await expect(panel(page).getByRole('button', { name: 'Show CPU' })).toHaveCount(0);
});

test('what other jobs felt too is no doing of a commit', async ({ page }) => {
  await changeAnswer<Explained>(page, ASKED, (body) => {
    weighed(body, { infrastructure: 0.82, none: 0.15, commit: 0.03 });
    body.controls = 4;
    for (const each of body.around)
      each.competing = each.competing.map((other) =>
        other.kind === 'jobs' ? { ...other, series: 4, moved: 4, ratio: 2.41 } : other,
      );
  });
  await night(page);
  await expect(sentence(page)).toHaveText(
    /^No commit explains the slowdown from 52 s to 1\d\d s: other jobs changed at the same time/,
  );
  await expect(panel(page).getByText('none', { exact: true })).toBeVisible();
  const first = panel(page).locator('.rows .row').first();
  await expect(first).toContainText('Infrastructure');
  await expect(first).toContainText('CPU');
  await expect(first).toContainText('82 %');
  await expect(panel(page)).toContainText('4 other jobs compared: 4 changed the same way');
  await expect(panel(page)).toContainText('median 2.41×');
  // nothing is named, so nothing is said to have caused it
  await expect(panel(page)).not.toContainText(/caused/i);
});

test('the side panel and the baseline are in the address, in links and in the history', async ({ page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const asked: (string | null)[] = [];
  await page.route(ASKED, async (route) => {
    const url = new URL(route.request().url());
    asked.push(url.searchParams.get('baseline'));
    url.searchParams.delete('baseline');
    await route.fulfill({ response: await route.fetch({ url: url.href }) });
  });
  await night(page);
  await expect(sentence(page)).toBeVisible();
  await panel(page)
    .getByRole('combobox', { name: /^Baseline/ })
    .click();
  await page.getByRole('option', { name: 'same time yesterday' }).click();
  await expect(page).toHaveURL(/base=yesterday/);
  await expect.poll(() => asked).toEqual([null, 'yesterday']);
  await page.getByRole('button', { name: 'Commits', exact: true }).click();
  await expect(page).toHaveURL(/panel=commits/);
  await expect(panel(page)).toHaveCount(0);
  await page.goBack();
  await expect(sentence(page)).toBeVisible();
  await panel(page).getByRole('button', { name: 'Copy Link to this explanation' }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(new URL(link).searchParams.get('panel')).toBe('explain');
  await page.goBack();
  await expect.poll(() => asked).toEqual([null, 'yesterday', null]);
  await page.goto(link);
  await expect(panel(page).getByRole('combobox', { name: 'Baseline: same time yesterday' })).toBeVisible();
  await expect.poll(() => asked.at(-1)).toBe('yesterday');
});

test('Recurring compaction', async ({ page }) => {
  await changeAnswer<Explained>(page, ASKED, (body) => {
    const index = body.explanation.changes.findIndex((change) => change.effect_ratio > 1);
    const burst = body.suspects.find(({ snapshot_id: id }) => id === BURST_ID)!;
    body.suspects.push({ ...burst, snapshot_id: '7', operation: 'replace', t: at('00:30') });
    body.explanation.hypotheses.unshift({
      kind: 'commit',
      posterior: 0.004,
      change: index,
      commit_id: '7',
      table: 'lake.sales.customer_events',
      lag_seconds: 9_300,
      similar: { commits: 14, followed: 0 },
    });
  });
  await night(page);
  const rows = panel(page).locator('.rows .row');
  await expect(rows.first()).toContainText('50,000 files');
  const daily = rows.filter({ hasText: '00:30:00' });
  await expect(daily).toContainText('0.4 %');
  await daily.locator('summary').first().click();
  await expect(daily).toContainText(
    '14 other replaces by the same writer in the days before: none was followed',
  );
});

test('the page of an alert explains without a click; a confirmed cause stays confirmed', async ({ page }) => {
  const words: string[] = [];
  const label = { snapshot_id: BURST_ID, t: at('06:00'), job_name: 'rollup_customer_events', comment: null };
  const said = (kind: string) => ({ ...label, kind, author: '<b>ada</b>' });
  await page.route(/\/labels$/, async (route) => {
    const { kind } = route.request().postDataJSON() as { kind: string };
    words.push(kind);
    await route.fulfill({ status: 202, json: said(kind) });
  });
  const alert = { fingerprint: FINGERPRINT, alert_name: 'SmallFileProliferation', starts_at: at('03:05') };
  await page.route(`**/api/v1/alerts/${FINGERPRINT}`, (route) =>
    route.fulfill({ json: { alert, window: { from: at('02:00'), to: NOW } } }),
  );
  await night(page, `&alert=${FINGERPRINT}`);
  await expect(sentence(page)).toHaveText(/^Most likely: .*at 03:04:12\.$/);
  await expect(panel(page)).not.toContainText(/caused/i);
  await panel(page).getByRole('button', { name: 'Confirm' }).first().press('Enter');
  await expect(sentence(page)).toHaveText(/^Caused by 50,000 files .*at 03:04:12\.$/);
  await panel(page).getByRole('button', { name: 'Undo' }).press('Enter');
  await expect(sentence(page)).toHaveText(/^Most likely/);
  await panel(page).getByRole('button', { name: 'Rule out' }).first().press('Enter');
  await expect(sentence(page)).toHaveText(/^No commit explains/);
  expect(words).toEqual(['confirmed', 'withdrawn', 'rejected']);
  await changeAnswer<Explained>(page, ASKED, (body) => body.labels.push(said('confirmed')));
  await page.reload();
  await expect(sentence(page)).toHaveText(/^Caused by/);
  await expect(panel(page)).toContainText('Confirmed by <b>ada</b>');
});

test('an explanation that fails says so, leaves the lanes alone and is tried again', async ({
  page,
  complaints,
}) => {
  await page.route(ASKED, (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      json: {
        type: 'source-unavailable',
        title: 'Source unavailable',
        status: 503,
        detail: 'prometheus: refused',
      },
    }),
  );
  await night(page);
  await expect(panel(page)).toContainText('Source unavailable. Prometheus: refused');
  await page.unroute(ASKED);
  await panel(page).getByRole('button', { name: 'Retry' }).click();
  await expect(sentence(page)).toHaveText(/^Most likely/);
  expectOnly(complaints, /Failed to load resource/);
});

test('a table without a job has its commits beside the lanes, and says how a job is linked', async ({
  page,
}) => {
  await changeAnswer<Timeline>(page, /\/timeline\?/, (body) => {
    if (body.detail) body.detail.jobs = [];
  });
  await changeAnswer<Explained>(page, ASKED, (body) => {
    body.tables = [];
    body.explanation = {
      ...body.explanation,
      changes: [],
      hypotheses: [],
      verdict: 'No job is known for this table: add one.',
    };
  });
  await night(page);
  await expect(page.getByRole('heading', { name: 'Largest commits in range' })).toBeVisible();
  await page.getByRole('button', { name: 'Explain', exact: true }).click();
  await expect(panel(page)).toContainText('A job is linked by');
});

test('dark, forced colours and 320 px: axe finds nothing in the explanation', async ({ page }) => {
  test.slow(); // axe runs three times
  await night(page);
  for (const [width, media] of [
    [1280, { colorScheme: 'dark' }],
    [1280, { forcedColors: 'active' }],
    [320, {}],
  ] as const) {
    await page.emulateMedia({ colorScheme: null, forcedColors: null, ...media });
    await page.setViewportSize({ width, height: 900 });
    await expect(sentence(page)).toBeVisible();
    await accessible(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide).toBeLessThanOrEqual(0);
  }
});
