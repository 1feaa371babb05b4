// What an address of a table says beside its range: an alert, a ref, whether the view is paused; and where it was zoomed from.
import type { Page } from '@playwright/test';
import { TimelinePage } from '../timeline.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { at, BURST_AT, BURST_ID, NIGHT, NOW, TABLE } from './moment.ts';
import type { Timeline } from './wire.ts';

const FINGERPRINT = 'eabfe59df9882e53';
const NAME = { catalog: 'lake', table_namespace: 'sales', table: 'customer_events' };

/** The newest episode of an alert on the table, as the server tells it. */
async function alerted(page: Page, window: { from: number; to: number | null }): Promise<void> {
  const alert = {
    fingerprint: FINGERPRINT,
    alert_name: 'FileBurst',
    starts_at: BURST_AT + 60_000,
    table: NAME,
  };
  await page.route(`**/api/v1/alerts/${FINGERPRINT}`, (route) => route.fulfill({ json: { alert, window } }));
  await changeAnswer<Timeline>(page, /\/timeline\?.*step=/, (body) => {
    const lane = body.lanes.find(({ id }) => id === 'alerts')!;
    const bar = { start: BURST_AT + 60_000, end: null, label: 'FileBurst', state: 'firing', detail: null };
    Object.assign(lane, { status: 'ok', bars: [bar] });
  });
}

test('the address of an alert opens its window with its bar marked, and going back does not lead there again', async ({
  page,
}) => {
  await alerted(page, { from: at('00:00'), to: NOW });
  const timeline = new TimelinePage(page);
  await page.goto('/settings');
  await page.goto(`${TABLE}?alert=${FINGERPRINT}`);
  await timeline.drawn();
  expect(await timeline.range()).toEqual([at('00:00'), NOW]);
  await expect(timeline.panel.locator('[data-lane=alerts] .subject')).toHaveCount(1);
  await expect(page).toHaveURL(new RegExp(`from=${at('00:00')}.*alert=|alert=.*from=${at('00:00')}`));
  await page.goBack();
  await expect(page).toHaveURL(/\/settings$/);
});

test('unknown values are named once, and defaults are shown', async ({ page, complaints }) => {
  await page.route(`**/api/v1/alerts/${FINGERPRINT}`, (route) =>
    route.fulfill({
      status: 404,
      json: { type: 'not-found', title: 'Not found', status: 404, detail: 'gone' },
    }),
  );
  await page.goto(`${TABLE}?alert=${FINGERPRINT}&live=maybe`);
  const notice = page.getByRole('group', { name: 'Address' });
  await expect(notice).toContainText('live, alert');
  await new TimelinePage(page).drawn();
  await notice.getByRole('button', { name: 'Dismiss' }).click();
  await expect(notice).toHaveCount(0);
  expect(complaints.splice(0).join()).toContain('404');
});

/** On every page with choices of its own: what its address says wrongly, and what is named of that. */
const WRONG: Record<string, string> = {
  '/?sort=banana&cols=x&heat=y&dir=up&cmp=z&from=zz&tz=Mars&kept=1': 'from, cmp, tz, sort, dir, cols, heat',
  '/commits?operation=banana&min=3&from=zz&kept=1': 'from, operation, min',
  [`${TABLE}/commits?operation=banana&to=zz&kept=1`]: 'to, operation',
  [`${TABLE}/commits/${BURST_ID}?tz=Mars&kept=1`]: 'tz',
  '/t/lake/marketing/campaigns/schema?tz=Mars&kept=1': 'tz',
  [`${TABLE}/refs?from=zz&kept=1`]: 'from',
  '/alerts?state=banana&kept=1': 'state',
  '/status?tz=Mars&kept=1': 'tz',
  [`${TABLE}?${NIGHT}&lanes=foo,bar&kept=1`]: 'lanes',
};
for (const [path, names] of Object.entries(WRONG))
  test(`invalid values in an address are named, defaults are shown: ${path}`, async ({ page }) => {
    await page.goto(path);
    const notice = page.getByRole('group', { name: 'Address' });
    await expect(notice).toContainText(`Invalid values in the address: ${names}.`);
    await expect(page.getByRole('main').locator('table, dl').first()).toBeVisible();
    await notice.getByRole('button', { name: 'Dismiss' }).click();
    await expect(notice).toHaveCount(0);
    await expect(page).toHaveURL(/kept=1/);
  });

for (const path of ['/alerts', '/commits'])
  test(`an unknown cursor is dropped, and the list starts over: ${path}`, async ({ page, complaints }) => {
    await page.route(/\/api\/v1\/.*cursor=nowhere/, (route) =>
      route.fulfill({
        status: 400,
        json: {
          type: 'bad-request',
          title: 'No',
          status: 400,
          detail: 'is not a valid cursor',
          field: 'cursor',
        },
      }),
    );
    await page.goto(`${path}?cursor=nowhere&kept=1`);
    await expect(page.getByRole('group', { name: 'Address' })).toContainText(
      'Invalid values in the address: cursor.',
    );
    await expect(page.getByRole('main').getByRole('row').nth(3)).toBeVisible();
    await expect(page).toHaveURL(/\?kept=1$/);
    expect(complaints.splice(0).join()).toContain('400');
  });

test('commits of an unknown table: the page says only that', async ({ page, complaints }) => {
  await page.route(/\/tables\/lake\/sales\/nix\//, (route) =>
    route.fulfill({
      status: 404,
      json: { type: 'not-found', title: 'Not found', status: 404, detail: 'unknown table lake.sales.nix' },
    }),
  );
  await page.goto('/t/lake/sales/nix/commits');
  await expect(page.getByRole('heading', { name: 'No table lake.sales.nix' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Commits' })).toHaveCount(0);
  expect(complaints.splice(0).join()).toContain('404');
});

test('a text that is no snapshot id names no commit, and says so', async ({ page, complaints }) => {
  await page.route(/\/commits\/burst$/, (route) =>
    route.request().isNavigationRequest()
      ? route.fallback()
      : route.fulfill({ status: 400, json: { type: 'bad-request', title: 'No', status: 400, detail: 'no' } }),
  );
  await page.goto(`${TABLE}/commits/burst`);
  await expect(page.getByRole('heading', { level: 1, name: 'No commit burst' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Retry' })).toHaveCount(0);
  expect(complaints.splice(0).join()).toContain('400');
});

test('on a phone the whole range of the fleet is beside the pages', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  await expect(page.getByRole('button', { name: /Change the time range/ })).toBeInViewport({ ratio: 1 });
});

test('a chosen ref marks the commits outside it, is in the address and survives a reload', async ({
  page,
}) => {
  const asked: string[] = [];
  type Detail = { refs: { name: string }[] };
  const audited = ({ refs }: Detail) => refs.push({ ...refs[0]!, name: 'audit' });
  // asked alone where lanes take longer than a second
  await changeAnswer<Detail>(page, /\/api\/v1\/tables\/lake\/sales\/customer_events$/, audited);
  await page.route(/\/timeline\?.*step=/, async (route) => {
    const url = new URL(route.request().url());
    const ref = url.searchParams.get('ref');
    asked.push(ref ?? 'main');
    url.searchParams.delete('ref');
    const answer = await route.fetch({ url: url.href });
    const body = (await answer.json()) as Timeline & { detail?: Detail };
    if (body.detail) audited(body.detail);
    const lane = body.lanes.find(({ id }) => id === 'commits')!;
    if (ref) Object.assign(lane, { off_ref: [BURST_ID] });
    await route.fulfill({ response: answer, json: body });
  });
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
  const burst = timeline.panel.locator(`[data-id="${BURST_ID}"]`);
  await expect(burst).not.toHaveClass(/hollow/);
  await page.getByRole('combobox', { name: 'Ref: main' }).click();
  await page.getByRole('option', { name: 'audit' }).click();
  await expect(burst).toHaveClass(/hollow/);
  await expect(page).toHaveURL(/ref=audit/);
  await page.reload();
  await expect(burst).toHaveClass(/hollow/);
  await expect(page.getByRole('combobox', { name: 'Ref: audit' })).toBeVisible();
  expect(asked).toEqual(['main', 'audit', 'audit']);
});

test('the trail shows where a zoom came from and leads back', async ({ page }) => {
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
  const before = await timeline.range();
  await timeline.drag('Data files', 0.4, 0.6);
  await page.keyboard.press('z');
  const trail = page.getByRole('navigation', { name: 'Zoom' });
  await expect(trail).toContainText('1 h 12 m');
  await trail.getByRole('button', { name: '6 h' }).click();
  await expect.poll(() => timeline.range()).toEqual(before);
  await expect(trail).toHaveCount(0);
});
