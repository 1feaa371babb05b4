// Off the scripted path: the minor list of the walk (m1 to m28), each item as a step under its number. m5, m11 and m26 are
// in glance.spec.ts and in the tests of the fleet's heat map.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { root } from '../browser.ts';
import { accessible } from '../axe.ts';
import { TimelinePage } from '../timeline.ts';
import { BURST_LABELS, linkOf } from './alert-story.ts';
import { changeAnswer, expect, expectOnly, test } from './fixtures.ts';
import { at, BURST_ID, NIGHT, TABLE } from './moment.ts';

const LAPTOP = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844 };
const STALE = '/alerts/925684f6227da1c3?starts_at=1795234200000';
const boxOf = async (page: Page, name: string) =>
  (await page.getByRole('region', { name, exact: true }).boundingBox())!;

test('m3 m4 m6 m7 m8 m28: the fleet on a laptop', async ({ page }) => {
  await page.setViewportSize(LAPTOP);
  await page.goto('/');
  const table = page.getByRole('region', { name: 'Tables', exact: true });
  await expect(table.getByRole('row').nth(3)).toBeVisible();
  const strip = page.getByRole('region', { name: 'Fleet status' });
  await test.step('m3: all tables are in a number, and what is late stands under no tick', async () => {
    const said = await strip.getByText(/alert only/).textContent();
    const counted = [...said!.matchAll(/(\d+)\s/g)].reduce((sum, [, n]) => sum + Number(n), 0);
    await expect(strip).toContainText(new RegExp(`${counted}\\s*of 12 tables need attention`));
    await expect(strip).toContainText(/1\s*stale\s*0 unreadable/);
  });
  await test.step('m4: a table that is late is stale, not unknown', async () => {
    const row = table.getByRole('row').filter({ hasText: 'deployments' });
    await expect(row.getByRole('img', { name: 'Stale' })).toBeVisible();
    await expect(row.getByRole('img', { name: 'Unknown' })).toHaveCount(0);
  });
  const map = page.getByRole('region', { name: 'Fleet by time' });
  await test.step('m6: no cell is described before one is pointed at', async () => {
    await expect(map.getByText('Point at a cell, or move with the arrow keys.')).toBeVisible();
    await map.getByRole('gridcell').nth(60).hover();
    await expect(map.getByText(/^[a-z]+\.[a-z_]+, \d\d:\d\d – \d\d:\d\d UTC: /)).toBeVisible();
  });
  await test.step('m7: columns are named in full, and the line is as wide as its column', async () => {
    for (const name of ['Small files', 'Deletes / file', 'Last commit'])
      await expect(table.getByRole('columnheader', { name })).toBeVisible();
    const cell = table.getByRole('row').nth(1).getByRole('cell').last();
    const line = (await cell.getByRole('img').boundingBox())!;
    expect((await cell.boundingBox())!.width - line.width).toBeLessThan(30);
  });
  await test.step('m8: tables begin on the first screen, beside no hole', async () => {
    expect((await table.boundingBox())!.y).toBeLessThan(LAPTOP.height);
    const [list, heat] = [await boxOf(page, 'Needs attention now'), await boxOf(page, 'Fleet by time')];
    expect(Math.abs(list.y + list.height - heat.y - heat.height)).toBeLessThan(2);
    await page.getByRole('button', { name: /^\d more$/ }).click();
    await expect(page.getByRole('button', { name: 'Fewer' })).toBeVisible();
  });
  await test.step('m28: the palette shows its keys', async () => {
    await expect(page.getByRole('button', { name: /Command palette/ })).toHaveText(/Ctrl K|⌘ K/);
  });
  await accessible(page);
});

test('m9 m10 m12 m13 m14 m15 m16 m27: the table page', async ({ page, stub }) => {
  stub.nearest = true;
  await page.goto(`${TABLE}?${NIGHT}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await test.step('m9: the facts say that they are of now, and a button what it shows', async () => {
    const state = page.getByRole('region', { name: 'Table state' });
    await expect(state.getByText('Now', { exact: true })).toBeVisible();
    await expect(state.getByRole('button')).toHaveText(/Show 03:04/);
  });
  await test.step('m10: no dot where a source is fine, and labels give way to the cursor', async () => {
    await expect(timeline.panel.locator('.head .dot')).toHaveCount(0);
    await timeline.slider.focus();
    await page.keyboard.press('Home');
    await expect(timeline.panel.locator('.tick.yields').first()).toBeHidden();
  });
  await test.step('m12: the overview draws changed files, and no label is under a handle', async () => {
    const handle = page.getByRole('slider', { name: 'Start of the range' });
    await expect(handle).toBeVisible();
    await expect(timeline.panel.getByText(/^files changed/)).toBeVisible();
    const map = timeline.panel.getByRole('img', { name: /^Overview/ });
    const tall = (path: string) =>
      map.locator(path).evaluate((drawn) => drawn.getBoundingClientRect().height);
    expect(await tall('.bars.loud')).toBeGreaterThan(1.5 * (await tall('.bars:not(.loud)')));
    const { x, width } = (await handle.boundingBox())!;
    for (const label of await map.locator('text').all()) {
      const box = (await label.boundingBox())!;
      expect(box.x > x + width / 2 + 3 || box.x + box.width < x + width / 2 - 3).toBe(true);
    }
  });
  await test.step('m13: a schema that did not change is one version', async () => {
    const lane = page.locator('[data-lane=schema]');
    await expect(lane.locator('.plot text')).toHaveText('s0 · p0');
  });
  await test.step('m15: a group of commits says what is in it before it is pressed', async () => {
    const group = timeline.panel.getByRole('button', { name: /^\d+ commits / }).first();
    await expect(group).toHaveAttribute('title', /^\d+ commits .* largest: Append .* files/);
  });
  await test.step('m14: what is explained, and what the button would explain, are both named', async () => {
    await timeline.drag('Job duration', 0.1, 0.3);
    await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Zoom' }).click();
    const other = page.getByRole('group', { name: 'Different range' });
    await expect(other.getByRole('button', { name: 'Explain this range' })).toBeVisible();
    await expect(other).toContainText(/This explains 00:00 – 06:00/);
    await page.goBack();
  });
  await test.step('m16: as a table, it opens at the cursor', async () => {
    await page.goto(`${TABLE}?${NIGHT}&at=${at('03:04:30')}`);
    await timeline.drawn();
    await page.getByRole('button', { name: 'View as table' }).click();
    await expect(page.getByRole('row', { name: /03:04:30/ })).toBeVisible();
  });
  await test.step('m27: nothing is smaller than the labels of an axis, 11 px', async () => {
    const small = await page.evaluate(() => {
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found: string[] = [];
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        const owner = node.parentElement;
        if (
          node.textContent?.trim() &&
          owner?.checkVisibility() &&
          parseFloat(getComputedStyle(owner).fontSize) < 11
        )
          found.push(node.textContent.trim());
      }
      return found;
    });
    expect(small).toEqual([]);
  });
});

test('m17: a commit says what it did to jobs, when, and what undoing it is', async ({ page, stub }) => {
  stub.nearest = true;
  await page.goto(`${TABLE}/commits/${BURST_ID}`);
  const main = page.getByRole('main');
  await expect(main.getByText('Slowed rollup_customer_events 3.0×')).toBeVisible();
  await expect(main.getByRole('heading', { level: 1 })).toHaveText('50,000 files of 0.9 MB in one append');
  await expect(main.getByText(/03:04:12 UTC\s+\(.+ local time\)|03:04:12 UTC\s+·/).first()).toBeVisible();
  await expect(main.getByRole('heading', { name: 'Roll back to the parent' })).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Breadcrumb' })).not.toContainText(BURST_ID);
});

test('m18: partitions warn of what is uneven, name their instant, and lead to the largest change', async ({
  page,
  stub,
}) => {
  stub.nearest = true;
  await changeAnswer<{ rows: { files_share: number }[]; after: { t: number } }>(
    page,
    /\/api\/v1\/.*\/partitions\?/,
    (body) => {
      body.rows.forEach((row, i) => (row.files_share = i ? 0.14 : 0.58));
      body.after.t = at('04:01');
    },
  );
  await page.goto(`${TABLE}/partitions?at=${at('04:00')}`);
  await expect(page.getByRole('row').nth(2)).toBeVisible();
  await expect(page.getByRole('region', { name: 'Partition summary' })).not.toContainText('58 % of files');
  await expect(page.getByRole('region', { name: 'Partitions', exact: true })).toContainText('at 04:00:00');
  await expect(page.getByRole('columnheader', { name: 'Bytes' }).getByRole('link')).toBeVisible();
  await page.getByRole('button', { name: /^Largest change 03:0\d, \+50,/ }).click();
  await expect(page.getByRole('slider', { name: 'Instant B' })).toHaveAttribute('aria-valuetext', /03:0\d/);
});

test('M17: on a phone a partition is two lines and a bar, and all its numbers are on the screen', async ({
  page,
}) => {
  await page.setViewportSize(PHONE);
  await page.goto(`${TABLE}/partitions?at=${at('04:00')}`);
  const row = page.getByRole('row').filter({ hasText: '50,000' });
  await expect(row).toContainText('event_time_day=2026-11-18');
  expect((await row.boundingBox())!.height).toBeLessThanOrEqual(76);
  for (const text of ['50,000', '+50,000', '0.9 MB']) {
    const box = (await row.getByText(text, { exact: true }).locator('visible=true').boundingBox())!;
    expect(box.x + box.width).toBeLessThanOrEqual(PHONE.width);
  }
  expect((await row.locator('.bar').boundingBox())!.width).toBeGreaterThan(300);
  await accessible(page);
});

test('m19: versions of a schema are counted by what changed', async ({ page }) => {
  await page.goto('/t/lake/marketing/campaigns/schema');
  await expect(page.getByText('2 changes known, newest first, UTC')).toBeVisible();
  await expect(page.getByText('First seen at this time; may be older').first()).toBeVisible();
  await expect(page.getByText('Nothing changed')).toHaveCount(0);
});

test('m2 m20 m21 m22: an incident has a name, no hole, and a runbook to read', async ({ page, stub }) => {
  stub.nearest = true;
  const event = {
    kind: 'commit',
    id: BURST_ID,
    code: null,
    at: at('01:00'),
    ended_at: null,
    snapshot_ids: [],
    note: null,
  };
  await changeAnswer<{ earlier: object[] }>(page, /\/alerts\/[0-9a-f]{16}/, (body) => {
    body.earlier = [{ ...event, finding: null, notes: [], severity: null, writer: 'demo_burst' }];
  });
  await page.setViewportSize(LAPTOP);
  await page.goto(linkOf(BURST_LABELS));
  const next = page.getByRole('region', { name: 'Do next' });
  await expect(next.getByRole('listitem').first()).toBeVisible();
  const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' });
  await test.step('m21: it is called by its name, and one is not many', async () => {
    await expect(crumbs).toContainText('SmallFileProliferation sales.customer_events');
    await expect(page.getByRole('main')).not.toContainText(/\b1 (more steps|data files|files)\b/);
    await expect(next.getByRole('button', { name: '3 more steps' })).toBeVisible();
  });
  await test.step('m20: notes, earlier events and labels share a column, and a statement wraps', async () => {
    const [notes, before] = [await boxOf(page, 'Notes'), await boxOf(page, 'Seen before')];
    expect(Math.abs(notes.x - before.x)).toBeLessThan(1);
    expect(before.y - notes.y - notes.height).toBeLessThan(20);
    await next.getByText('Compact the partitions').click();
    const code = next.getByRole('group', { name: 'Statement 2' });
    expect(await code.evaluate((block) => block.scrollWidth - block.clientWidth)).toBe(0);
  });
  await test.step('m22: a commit that did this before is listed', async () => {
    const before = page.getByRole('region', { name: 'Seen before' });
    await expect(before.getByRole('link', { name: /commit/i })).toHaveAttribute('href', new RegExp(BURST_ID));
  });
  await test.step('m2: its runbook is a page', async () => {
    await next.getByRole('link', { name: 'Read the runbook' }).click();
    await expect(page).toHaveURL(/\/runbooks\/small-file-proliferation\?catalog=lake/);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('SmallFileProliferation');
    await expect(page.getByRole('heading', { level: 2, name: 'What to run' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Copy statement' }).first()).toBeVisible();
    await accessible(page);
    await crumbs.getByRole('link', { name: 'Alerts' }).click();
    await expect(page).toHaveURL(/\/alerts$/);
  });
});

test('m1: an alert about a stale table begins with its last commit, its writer and a whole first step', async ({
  page,
  stub,
}) => {
  stub.nearest = true;
  await page.goto(STALE);
  const what = page.getByRole('region', { name: 'What happened' });
  await expect(what).toContainText(/The last commit before the alert was at \d\d:\d\d:\d\d/);
  await expect(what).toContainText(/last written by \S+/);
  await expect(what.getByRole('link', { name: 'Open commit' })).toBeVisible();
  const first = page.getByRole('region', { name: 'Do next' }).getByRole('listitem').first();
  await expect(first).toContainText('Show the table');
  await expect(first).not.toContainText(/^1?\s*Then/);
});

test('m23 m24: severity in a word, and what each source is for', async ({ page }) => {
  await page.goto('/alerts');
  const row = page.getByRole('row').filter({ hasText: 'LakehouseTableStale' }).first();
  await expect(row.getByRole('cell', { name: 'Warning', exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Status', exact: true }).click();
  await expect(page.getByRole('row').filter({ hasText: 'Watcher' })).toContainText('between two passes');
  await expect(page.getByText(/4 s ago, .* in its log/)).toBeVisible();
  await expect(page.getByText(/Trino is optional: \[trino\]/)).toBeVisible();
  await accessible(page);
});

test('m25: a table that does not exist has no pages to choose from', async ({ page, complaints }) => {
  await page.route(/\/api\/v1\/tables\/lake\/sales\/nothing/, (route) =>
    route.fulfill({
      status: 404,
      json: { type: 'not-found', title: 'Not found', status: 404, detail: 'unknown table' },
    }),
  );
  await page.goto('/t/lake/sales/nothing');
  await expect(page.getByRole('heading', { name: 'No table lake.sales.nothing' })).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Table pages' })).toHaveCount(0);
  await accessible(page);
  expectOnly(complaints, /404/);
});

test('M12: findings, firing alerts and the commits of the range are counted on their tabs', async ({
  page,
  stub,
}) => {
  await page.goto(`${TABLE}?${NIGHT}`);
  await new TimelinePage(page).drawn();
  const pages = page.getByRole('navigation', { name: 'Pages', exact: true });
  await expect(pages.getByRole('link', { name: 'Alerts' })).toHaveText('Alerts3');
  await expect(pages.getByRole('link', { name: 'Findings' })).toHaveText('Findings3');
  const own = page.getByRole('navigation', { name: 'Table pages' });
  await expect(own.getByRole('link', { name: 'Commits' })).toHaveText('Commits33');
  expect(stub.asked.filter((asked) => /\/(alerts|findings|commits)\?/.test(asked))).toEqual([]);
});

const STOPPING = [
  'It was not told here',
  'As the system has it',
  'Keys of one letter work"',
  'A page that names no range',
  'Density of tables',
  'its address is the same everywhere',
  'Link, its range frozen',
  'Numbers, a row a step',
  'What was asked',
  'Files of append by',
  'Nothing known here',
  'says sort in a way that cannot be read',
  'told by url',
  'commits to main are not among them',
  'So long ago',
];

test('words that make a user stop are gone, and "provisional" is explained', () => {
  const folder = join(root, 'frontend/src');
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(svelte|ts)$/.test(name) && !/\.test\.ts$|schema\.d\.ts$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  expect(STOPPING.filter((words) => texts.includes(words))).toEqual([]);
  expect(texts).toContain('Seen by the server, not yet recorded by the pipeline');
});
