// A page reached from another page is the page that its address opens: the same tools, tabs, title and heading, whether
// one came by click, by Back and Forward, by the finder, by the palette or by keys; and the console stays silent.
import type { Page } from '@playwright/test';
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { BURST_ID, NOW, TABLE } from './moment.ts';
import { readAll } from './recordings.ts';
import { BURST_LABELS, linkOf } from './alert-story.ts';

test.beforeEach(({ stub }) => {
  stub.nearest = true;
});

/** What the frame shows of the open page. */
const frameOf = (page: Page) =>
  page.evaluate(() => {
    // a tab's count comes with its data, later than the tab
    const said = (each: Element) =>
      (each.getAttribute('aria-label') ?? each.textContent ?? '').replace(/\s*[\d,]+$/, '').trim();
    const all = (selector: string) => [...document.querySelectorAll(selector)].map(said);
    return {
      title: document.title,
      crumbs: all('.crumbs :is(a, [aria-current])'),
      tabs: all('header nav:not(.crumbs) a'),
      here: all('header nav:not(.crumbs) [aria-current]'),
      tools: all('.toolbar :is(button, select, input)'),
      headings: all('h1'),
    };
  });

const drawn = async (page: Page, path: RegExp) => {
  await expect(page).toHaveURL(path);
  await expect(page.locator('h1').first()).toBeAttached();
  await expect(page.locator('main [aria-busy=true], main .skel')).toHaveCount(0);
};

const seen = new WeakMap<Page, Map<string, Awaited<ReturnType<typeof frameOf>>>>();

/** Expects the page to have the frame of the same address, opened afresh; each address is opened once. */
async function expectAsOpened(page: Page, path: RegExp): Promise<void> {
  await drawn(page, path);
  const known = seen.get(page) ?? new Map<string, Awaited<ReturnType<typeof frameOf>>>();
  seen.set(page, known);
  const address = page.url();
  const opened = known.get(address);
  if (opened) return expect.poll(() => frameOf(page), address).toEqual(opened);
  const fresh = await page.context().newPage();
  await fresh.clock.setFixedTime(NOW);
  await fresh.goto(address);
  await drawn(fresh, path);
  // both may still wait for a part: neither is the last word before they agree
  await expect(async () => expect(await frameOf(page), address).toEqual(await frameOf(fresh))).toPass({
    timeout: 10_000,
  });
  known.set(address, await frameOf(fresh));
  await fresh.close();
}

const FLEET = /\/(\?.*)?$/;
const TIMELINE = new RegExp(`${TABLE}(\\?.*)?$`);
const COMMITS = new RegExp(`${TABLE}/commits(\\?.*)?$`);
const COMMIT = new RegExp(`${TABLE}/commits/${BURST_ID}(\\?.*)?$`);
const PARTITIONS = new RegExp(`${TABLE}/partitions(\\?.*)?$`);
const ALL_COMMITS = /:\d+\/commits(\?.*)?$/;
const INCIDENT = /\/alerts\/[0-9a-f]{16}\?starts_at=\d{13}$/;

/** The table's tab of that name, whether or not its count is there. */
const tab = (page: Page, name: string) =>
  page
    .getByRole('navigation', { name: 'Table pages' })
    .getByRole('link', { name: new RegExp(`^${name}( [\\d,]+)?$`) });

test('B1: by click, and back and forth through all of it', async ({ page }) => {
  test.slow(); // each page is opened twice
  await page.goto('/');
  await expectAsOpened(page, FLEET);
  await page
    .getByRole('table')
    .getByRole('link', { name: /customer_events/ })
    .first()
    .click();
  await expectAsOpened(page, TIMELINE);
  await expect(page.getByRole('button', { name: 'Share' })).toBeVisible();
  await tab(page, 'Commits').click();
  await expectAsOpened(page, COMMITS);
  await tab(page, 'Partitions').click();
  await expectAsOpened(page, PARTITIONS);
  await tab(page, 'Timeline').click();
  await expectAsOpened(page, TIMELINE);
  const way = [PARTITIONS, COMMITS, TIMELINE, FLEET];
  for (const path of way) {
    await page.goBack();
    await expectAsOpened(page, path);
  }
  for (const path of [...way.slice(0, -1).reverse(), TIMELINE]) {
    await page.goForward();
    await expectAsOpened(page, path);
  }
});

test('by keys, with the range and the commands of the page they lead to', async ({ page }) => {
  test.slow();
  await page.goto(TABLE);
  await drawn(page, TIMELINE);
  const go = async (key: string, path: RegExp) => {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await expectAsOpened(page, path);
  };
  await go('f', FLEET);
  await go('c', ALL_COMMITS);
  await go('t', TIMELINE);
  await page.keyboard.press('t');
  await page.keyboard.press('a');
  await expect(page, 'the keys of the range find the range of the page').toHaveURL(/from=\d{13}/);
  await page.keyboard.press('Control+k');
  await page
    .getByRole('combobox', { name: /palette|command|find/i })
    .last()
    .fill('compare with');
  await expect(page.getByRole('option', { name: /Compare with…/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
});

test('by the finder and by the palette', async ({ page }) => {
  test.slow();
  await page.goto('/');
  await drawn(page, FLEET);
  await page.locator('body').press('/');
  await page.keyboard.insertText('cust');
  await expect(page.getByRole('option', { name: /customer_events/ }).first()).toBeVisible();
  await page.keyboard.press('Enter');
  await expectAsOpened(page, TIMELINE);
  await page.goto('/commits');
  await drawn(page, ALL_COMMITS);
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText('cust');
  await expect(page.getByRole('option', { name: /customer_events/ }).first()).toBeVisible();
  await page.keyboard.press('Enter');
  await expectAsOpened(page, TIMELINE);
});

test('from an incident through the link of an alert, and back', async ({ page, context }) => {
  test.slow();
  const resolved = (about: string) =>
    [...readAll().values()].find(({ asked }) => asked.includes('resolve?') && asked.endsWith(about))!.body;
  let answer = resolved('=LakehouseTableStale');
  await context.route(/\/api\/v1\/alerts\/resolve\?/, (route) => route.fulfill({ json: answer }));
  const bar = page.getByRole('link', { name: /open the incident/ }).first();
  await page.goto(linkOf(BURST_LABELS));
  await expectAsOpened(page, INCIDENT);
  await expect(page).toHaveTitle(/^SmallFileProliferation .*customer_events · Limnograph$/);
  await bar.click();
  await expectAsOpened(page, /\/alerts\/resolve\?/);
  await expect(page).toHaveTitle('Incident · Limnograph');
  await page.goBack();
  await expectAsOpened(page, INCIDENT);
  answer = resolved('inventory&table_namespace=ops');
  await bar.click();
  await expect(page).toHaveTitle(/^LakehouseTableStale .*inventory/);
  await expectAsOpened(page, INCIDENT);
  await page.goBack();
  await expect(page).toHaveTitle(/^SmallFileProliferation/);
  // known from its link alone: the page of the link itself tells it
  answer = resolved('table=customer_events&table_namespace=sales');
  await bar.click();
  await expect(page).toHaveTitle(/^MyOwnRule .*customer_events/);
  await page.goBack();
  await expect(page).toHaveTitle(/^SmallFileProliferation/);
  await page.getByRole('link', { name: 'Open commit' }).first().click();
  await expectAsOpened(page, COMMIT);
  await tab(page, 'Timeline').click();
  await expectAsOpened(page, TIMELINE);
  await page.goBack();
  await expectAsOpened(page, COMMIT);
  await page.goBack();
  await expectAsOpened(page, INCIDENT);
  await page.goForward();
  await expectAsOpened(page, COMMIT);
});
