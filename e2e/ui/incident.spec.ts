// From a page at 03:05: the link of an alert leads to the commit and to what to do, that night and the next day.
import { TimelinePage } from '../timeline.ts';
import { changeAnswer, expect, expectOnly, test } from './fixtures.ts';
import { at, BURST_ID, NOW } from './moment.ts';
import {
  BURST_LABELS,
  FIRED,
  linkOf,
  ODD_LABELS,
  OLD_FIRED,
  OLD_LABELS,
  OLD_RESOLVED,
  SCRIPT,
} from './alert-story.ts';
import type { Explained, Incident } from './wire.ts';

const HOUR = 3_600_000;
const INCIDENT = /\/alerts\/[0-9a-f]{16}\?starts_at=\d{13}$/;

test('Pager link', async ({ page }) => {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(viewport);
    await page.goto(linkOf(BURST_LABELS));
    await expect(page).toHaveURL(INCIDENT);
    await expect(page.getByRole('heading', { level: 1 })).toContainText('SmallFileProliferation');
    const what = page.getByRole('region', { name: 'What happened' });
    const seen = [
      what.getByText('One append at 03:04:12 added 50,000 files'),
      page.getByRole('region', { name: 'Do next' }).getByRole('listitem').first(),
      what.getByRole('link', { name: 'Open commit' }),
      page.getByText(/^Critical · firing for 2 h/),
    ];
    for (const each of seen) await expect(each).toBeInViewport({ ratio: 1 });
    expect(await page.evaluate(() => scrollY)).toBe(0);
    const timeline = new TimelinePage(page);
    await timeline.drawn();
    const [from, to] = await timeline.range();
    expect(from).toBeLessThanOrEqual(FIRED - HOUR);
    expect(to).toBeGreaterThanOrEqual(NOW);
  }
  await expect(page.getByRole('region', { name: 'Explain' })).toContainText('Most likely: 50,000 files');
  await page
    .getByRole('region', { name: 'What happened' })
    .getByRole('link', { name: 'Open commit' })
    .click();
  await expect(page).toHaveURL(new RegExp(`/commits/${BURST_ID}$`));
});

test('Old link', async ({ page }) => {
  await page.clock.setFixedTime(NOW + 27 * HOUR);
  await page.goto(linkOf(OLD_LABELS, { startsAt: String(OLD_FIRED) }));
  await expect(page).toHaveURL(INCIDENT);
  await expect(page.getByText('resolved, fired for 1 h 8 m')).toBeVisible();
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const [from, to] = await timeline.range();
  expect(from).toBeLessThanOrEqual(OLD_FIRED - HOUR);
  expect(from).toBeGreaterThan(OLD_FIRED - 2 * HOUR);
  expect(to).toBeGreaterThanOrEqual(OLD_RESOLVED);
  expect(to).toBeLessThan(OLD_RESOLVED + HOUR);
  await expect(timeline.drawing('Alerts')).toHaveAccessibleName(
    /LakehouseDeleteFilesGrowing \(resolved\) from 01:12:00 until 02:20:00/,
  );
});

test('Unknown label set', async ({ page }) => {
  await page.goto('/a?alertname=LakehouseTableStale');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(
    'Which table is LakehouseTableStale about?',
  );
  await expect(page.getByRole('main')).toContainText('alertname');
  await page.getByRole('link', { name: 'lake / ops / inventory' }).click();
  await expect(page).toHaveURL(INCIDENT);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('inventory');

  await page.goto('/a?alertname=DiskFull&table=nowhere&team=%3Cimg%20src%3Dx%3E');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('DiskFull: unknown table');
  for (const text of ['team', '<img src=x>', 'nowhere'])
    await expect(page.getByRole('main').locator('dl')).toContainText(text);
  await expect(page.getByRole('link', { name: 'Tables like “nowhere”' })).toBeVisible();
  await expect(page.getByRole('group', { name: /problem|failed/i })).toHaveCount(0);
});

test('Zero end time', async ({ page }) => {
  await page.goto(linkOf(BURST_LABELS));
  await expect(page.getByText(/^Critical · firing for 2 h/)).toBeVisible();
  const timeline = new TimelinePage(page);
  await expect(timeline.drawing('Alerts')).toHaveAccessibleName(
    /SmallFileProliferation \(firing\) from 03:05:30 ongoing/,
  );
  const drawn = await timeline.drawing('Alerts').evaluate((svg) => ({
    width: svg.clientWidth,
    bars: [...svg.querySelectorAll<SVGRectElement>('rect.alert')].map((bar) => [
      bar.x.baseVal.value,
      bar.width.baseVal.value,
    ]),
  }));
  expect(drawn.bars.length).toBeGreaterThan(0);
  for (const [x, width] of drawn.bars as [number, number][]) {
    expect(x).toBeGreaterThan(0);
    expect(x + width).toBeLessThanOrEqual(drawn.width + 1);
    expect(width).toBeGreaterThan(10);
  }
  await expect(page.getByRole('main')).not.toContainText('0001');
});

test('Back and silence', async ({ page }) => {
  await page.goto(linkOf(ODD_LABELS));
  await expect(page).toHaveURL(INCIDENT);
  const ways = page.getByRole('group', { name: 'Links' });
  const silence = new URL((await ways.getByRole('link', { name: /^Silence/ }).getAttribute('href'))!);
  expect(silence.host).toBe('alertmanager.example:9093');
  expect(silence.hash).toMatch(/^#\/silences\/new\?filter=/);
  const filter = decodeURIComponent(silence.hash.split('filter=')[1]!);
  for (const [name, value] of Object.entries(ODD_LABELS))
    expect(filter).toContain(`${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  const back = await ways.getByRole('link', { name: /^Alertmanager/ }).getAttribute('href');
  expect(back).toContain('#/alerts?filter=');
  const graph = new URL((await ways.getByRole('link', { name: /^Prometheus/ }).getAttribute('href'))!);
  expect(graph.searchParams.get('g0.expr')).toContain('spark_job_duration_seconds');
  expect(graph.searchParams.get('g0.end_input')).toMatch(/^2026-11-21 0/);
  for (const link of await ways.getByRole('link').all())
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
  await expect(ways).toContainText(`Runbook: ${SCRIPT}`);
  expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
});

test('an alert that waited before it fired is drawn hatched, then solid', async ({ page }) => {
  await changeAnswer<Incident>(page, /\/alerts\/[0-9a-f]{16}/, (body) => {
    body.active_at = FIRED - 600_000;
    body.alert.starts_at = FIRED;
  });
  await page.goto(linkOf(BURST_LABELS));
  const timeline = new TimelinePage(page);
  await expect(timeline.drawing('Alerts')).toHaveAccessibleName(
    /SmallFileProliferation \(pending\) from 02:55:30 until 03:05:30; .*\(firing\) from 03:05:30 ongoing/,
  );
  await expect(timeline.drawing('Alerts').locator('.alert.pending')).toHaveAttribute('fill', /url\(#/);
  await expect(page.getByText('active 02:55:30')).toBeVisible();
});

test('the summary is Markdown that names the alert, the commit, the steps and the page', async ({ page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(linkOf(BURST_LABELS));
  await expect(page.getByText('One append at 03:04:12').first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'Do next' }).getByRole('listitem').first()).toBeVisible();
  const ahead = page.getByRole('region', { name: 'At risk' });
  await expect(ahead).toContainText('Small files will probably pass 10,000 between Tue and Thu');
  await page.getByRole('button', { name: 'Copy Summary' }).click();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toContain('**SmallFileProliferation** on **lake.sales.customer_events**');
  expect(text).toContain(BURST_ID);
  expect(text).toContain('1. Stop the writer');
  expect(text).toContain('Small files will probably pass 10,000 between Tue and Thu');
  expect(text.trimEnd().endsWith(page.url())).toBe(true);
});

test('an alert that fires names what its table is at risk of; a resolved one does not', async ({ page }) => {
  await page.goto(linkOf(BURST_LABELS));
  await page.getByRole('link', { name: 'Open forecast' }).press('Enter');
  await expect(page).toHaveURL(/\/t\/lake\/sales\/customer_events\/forecast$/);
  await page.clock.setFixedTime(NOW + 27 * HOUR);
  await page.goto(linkOf(OLD_LABELS, { startsAt: String(OLD_FIRED) }));
  await expect(page.getByText('resolved, fired for 1 h 8 m')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Do next' }).getByRole('listitem').first()).toBeVisible();
  await expect(page.getByRole('link', { name: 'Open forecast' })).toHaveCount(0);
});

test('on a phone the next actions stay within reach, and hide nothing that has the focus', async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(linkOf(BURST_LABELS));
  const actions = page.getByRole('group', { name: 'Actions' });
  await expect(actions.getByRole('link', { name: 'Open commit' })).toBeInViewport({ ratio: 1 });
  await expect(actions.getByRole('link', { name: /^Runbook, opens/ })).toHaveAttribute('href', /small-file/);
  await expect(actions.getByRole('link', { name: /^Silence, opens/ })).toHaveAttribute('href', /silences/);
  await expect(actions.getByRole('button', { name: 'Copy Summary' })).toBeVisible();
  await expect(
    page.getByRole('group', { name: 'Links' }).getByRole('link', { name: /^Silence/ }),
  ).toBeHidden();
  const last = page.locator('summary', { hasText: 'Labels and transitions' });
  await last.focus();
  const [shown, bar] = [await last.boundingBox(), await actions.boundingBox()];
  expect(shown!.y + shown!.height).toBeLessThanOrEqual(bar!.y);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(actions).toBeHidden();
});

test('a statement of the runbook carries the name of the alert’s own table', async ({ page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(linkOf(OLD_LABELS, { startsAt: String(OLD_FIRED) }));
  await page.getByRole('button', { name: 'Copy statement 1' }).click();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toContain('CALL lake.system.rewrite_data_files');
  expect(text).toContain("'lake.sales.carts'");
  expect(text).not.toContain('customer_events');
});

test("an alert that was never received: its link's labels, at its time, and a notice", async ({ page }) => {
  const starts = String(at('02:00'));
  await page.goto(linkOf({ ...BURST_LABELS, alertname: 'MyOwnRule' }, { startsAt: starts }));
  await expect(page).toHaveURL(/\/alerts\/resolve\?/);
  await expect(page.getByRole('group', { name: 'Source' })).toContainText('showing only its link');
  await expect(page.getByText('state unknown')).toBeVisible();
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  expect((await timeline.range())[0]).toBeLessThanOrEqual(Number(starts) - HOUR);
});

test('an unknown fingerprint has a page that says so', async ({ page, complaints }) => {
  await page.goto('/alerts/0123456789abcdef');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('No alert 0123456789abcdef');
  await expect(page.getByRole('link', { name: 'All alerts' })).toBeVisible();
  expectOnly(complaints, /404/);
});

test('alerts: those that fire first, narrowed by state and rule, and an empty list says why', async ({
  page,
}) => {
  await page.goto('/');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Alerts' }).click();
  const rows = page.getByRole('row');
  await expect(rows.nth(1)).toContainText('firing for');
  await expect(page.getByRole('rowheader', { name: 'sales.customer_events' }).first()).toHaveAttribute(
    'rowspan',
    '2',
  );
  await expect(page.getByRole('img', { name: /^fired 2 times in 7 days, / }).first()).toBeVisible();
  await expect(rows.last()).toContainText('resolved');
  await page.getByRole('link', { name: /^resolved/ }).click();
  await expect(page).toHaveURL(/state=resolved/);
  await expect(rows.nth(1)).toContainText('resolved');
  await page.getByRole('textbox', { name: /filter by rule/i }).fill('carts');
  await expect(page).toHaveURL(/q=carts/);
  await expect(rows).toHaveCount(2);
  await page.getByRole('textbox', { name: /filter by rule/i }).fill('nothing of the kind');
  await expect(page.getByText('No alert matches')).toBeVisible();
  await page.getByRole('link', { name: 'Show all alerts' }).click();
  await expect(rows.nth(1)).toContainText('firing for');
  await page.getByRole('link', { name: 'SmallFileProliferation' }).first().click();
  await expect(page.getByText('One append at 03:04:12').first()).toBeVisible();
});

test('alerts that Alertmanager keeps to itself say so: silenced, inhibited', async ({ page }) => {
  await changeAnswer<{ rows: { muted: string | null }[] }>(page, /\/alerts\?/, (body) => {
    [body.rows[0]!.muted, body.rows[1]!.muted] = ['silenced', 'inhibited'];
  });
  await page.goto('/alerts');
  for (const [i, word] of ['silenced', 'inhibited'].entries())
    await expect(page.getByRole('row').nth(i + 1)).toContainText(new RegExp(`firing for .* ${word}`));
  await expect(page.getByRole('row').nth(3)).not.toContainText(/silenced|inhibited/);
});

test('a new alert is in the list at once', async ({ page, stub }) => {
  let comes = false;
  await changeAnswer<{ rows: { alert_name: string; starts_at: number }[]; firing: number }>(
    page,
    /\/api\/v1\/alerts\?/,
    (body) => {
      if (!comes) return;
      body.rows.unshift({ ...body.rows[0]!, alert_name: 'JustNow', starts_at: NOW - 5_000 });
      body.firing += 1;
    },
  );
  await page.goto('/alerts');
  await expect(page.getByRole('row').nth(1)).toContainText('firing for');
  await expect.poll(() => stub.streams).toBe(1);
  comes = true;
  stub.tell('alert', { alert: {} }, '1');
  await expect(page.getByRole('row').nth(1)).toContainText('JustNow');
});

test('the alerts of a timeline are reached by keyboard, and read in its table', async ({ page }) => {
  await page.goto(linkOf(BURST_LABELS));
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  const bars = timeline.panel.getByRole('group', { name: 'Alerts' });
  const own = bars.getByRole('link', { name: /^SmallFileProliferation firing from 03:05:30/ });
  await own.focus();
  await expect(own).toBeFocused();
  await page.getByRole('button', { name: 'View as table' }).click();
  const table = page.getByRole('region', { name: 'Timeline as table' });
  await expect(table.getByRole('columnheader', { name: 'Alerts' })).toBeVisible();
  await expect(table.getByRole('cell', { name: /SmallFileProliferation firing/ }).first()).toBeVisible();
});

test('B4: the statement to copy has the condition of the rows that the commit wrote', async ({ page }) => {
  await page.goto(linkOf(BURST_LABELS));
  const next = page.getByRole('region', { name: 'Do next' });
  const step = next.getByRole('listitem').filter({ hasText: 'Compact the partitions' });
  await step.locator('summary').click();
  await expect(step.locator('code')).toContainText(
    /where => '`event_time` >= TIMESTAMP \\'2026-11-\d\d 00:00:00\+00:00\\'/,
  );
  await expect(next).not.toContainText('event_date');
  await next.getByRole('button', { name: /more steps/ }).click();
  await next.locator('summary').filter({ hasText: 'Trino' }).click();
  await expect(next).toContainText(
    /optimize\(.*\) WHERE "event_time" >= TIMESTAMP '2026-11-\d\d 00:00:00 UTC'/,
  );
});

test('no run after the commit: not known yet, in the story, the explanation and the report', async ({
  page,
}) => {
  await changeAnswer<Explained>(page, /\/explain\?/, (body) => {
    Object.assign(body.explanation, {
      changes: [],
      hypotheses: [],
      blamed: [],
      verdict: 'Not known yet: told',
    });
    Object.assign(body, {
      pending: {
        ...{ last_run: at('02:55'), running_since: null, commits: 2 },
        ...{ commit_id: BURST_ID, committed_at: at('03:04:12') },
      },
    });
  });
  await changeAnswer<{ effects: object[] }>(page, /\/commits\//, (body) => {
    for (const effect of body.effects)
      Object.assign(effect, { runs_after: 0, median_after_s: null, last_run: at('02:55') });
  });
  await page.goto(linkOf(BURST_LABELS));
  const explain = page.getByRole('region', { name: 'Explain' });
  await expect(explain).toContainText(/Not known yet: no run of \w+ started after the commit at 03:04:12/);
  await expect(explain).toContainText('02:55:00, before 2 commits in this range');
  await expect(explain).not.toContainText('stands out');
  await expect(page.getByRole('region', { name: 'What happened' })).toContainText(
    'not known yet, no run started after the commit has ended; the last one before started at 02:55:00',
  );
});
