// Answers that fail, are late or hold nothing, on every page: a cause in words, the rest of the page stands, and another
// try heals it.
import type { Locator, Page, Route } from '@playwright/test';
import { changeAnswer, expect, expectOnly, test } from './fixtures.ts';
import { VIEWS, type View } from './pages.ts';
import { TimelinePage } from '../timeline.ts';

const PROBLEM = {
  type: 'source-timeout',
  title: 'Source timed out',
  status: 504,
  detail: 'meta: no complete response within 8 s',
};
const FAULTS: Record<string, { answer: (route: Route) => Promise<void>; says: RegExp }> = {
  '504': {
    answer: (route) =>
      route.fulfill({
        status: 504,
        contentType: 'application/problem+json',
        json: { ...PROBLEM, request_id: '7f3a' },
      }),
    says: /Source timed out. Meta: no complete response within 8 s/,
  },
  'malformed JSON': {
    answer: (route) => route.fulfill({ contentType: 'application/json', body: '{"rows": [' }),
    says: /The response is not valid JSON/,
  },
  'aborted stream': {
    answer: (route) => route.abort('connectionreset'),
    says: /The server is not responding/,
  },
};
const DATA = /\/api\/v1\/(?!stream)/;
const ASKING = VIEWS.filter(({ asks }) => asks);

for (const view of ASKING)
  test(`${view.name}: a failure is shown, and a retry recovers`, async ({ page, complaints }) => {
    test.slow(); // three faults
    for (const [fault, { answer, says }] of Object.entries(FAULTS))
      await test.step(fault, async () => {
        await page.route(DATA, answer);
        await page.goto(view.path);
        await expect(page.getByRole('main')).toContainText(says);
        await expect(page.getByRole('navigation').first()).toBeVisible();
        await page.unroute(DATA);
        await page
          .getByRole('main')
          .getByRole('button', { name: /retry|try again/i })
          .first()
          .click();
        await view.drawn(page);
      });
    expectOnly(complaints, /Failed to load resource/);
  });

const FAILED = {
  status: 500,
  contentType: 'application/problem+json',
  json: { ...PROBLEM, type: 'internal', title: 'Something broke', status: 500, detail: 'Look into the log' },
};
const region = (page: Page, name: string) => page.getByRole('region', { name });
const notice = (page: Page) =>
  page
    .getByRole('main')
    .getByText(/Look into the log/)
    .first();
/** A question that fails, and what of the page stays. */
const PARTS: readonly [on: View['name'], asked: RegExp, stays: (page: Page) => Locator[]][] = [
  [
    'fleet',
    /\/tables\?/,
    (page) => [notice(page), region(page, 'Fleet status').getByText('firing'), region(page, 'Fleet by time')],
  ],
  [
    'fleet',
    /\/tables\/heat/,
    (page) => [notice(page), region(page, 'Fleet status'), page.getByRole('row').nth(3)],
  ],
  ['fleet', /\/alerts/, (page) => [page.getByText('alerts not read'), page.getByRole('row').nth(3)]],
  [
    'table',
    /\/timeline\?/,
    (page) => [
      region(page, 'Table state'),
      region(page, 'Explain').getByText(/Most likely: 50,000 files of/),
      notice(page),
    ],
  ],
  ['table', /\/explain/, (page) => [notice(page), new TimelinePage(page).drawing('Data files')]],
  ['commit', /\/timeline\?/, (page) => [notice(page), page.getByText('51,202').first()]],
  [
    'incident',
    /\/commits\/|\/docs\/runbooks\//,
    (page) => [
      page.getByText(/append at 03:04:12 added/),
      page.getByText('Could not load its effect on jobs'),
      page.getByText('Could not load the runbook'),
      new TimelinePage(page).drawing('Data files'),
    ],
  ],
  [
    'incident',
    /\/timeline\?/,
    (page) => [
      page.getByText(/append at 03:04:12 added/),
      region(page, 'Do next').getByRole('listitem').first(),
      notice(page),
    ],
  ],
];
for (const [name, asked, stays] of PARTS)
  test(`${name}: ${asked.source} that fails leaves the rest of the page`, async ({ page, complaints }) => {
    await page.route(asked, (route) => route.fulfill(FAILED));
    await page.goto(VIEWS.find((view) => view.name === name)!.path);
    for (const part of stays(page)) await expect(part).toBeVisible();
    expectOnly(complaints, /Failed to load resource/);
  });

test('B2: a failure that is over at the second question is not shown', async ({ page, complaints }) => {
  const failed = new Set<string>();
  await page.route(DATA, (route) => {
    const url = route.request().url();
    if (failed.has(url)) return route.fallback();
    failed.add(url);
    return route.fulfill(FAILED);
  });
  const [fleet] = VIEWS;
  await page.goto(fleet!.path);
  await fleet!.drawn(page);
  expect(failed.size).toBeGreaterThan(3);
  await expect(page.getByRole('main')).not.toContainText(/Something broke|alerts not read|tables not read/);
  expectOnly(complaints, /Failed to load resource/);
});

/** What a page shows of a list without rows, a night without commits, a catalog without tables. */
const EMPTY: Record<string, RegExp> = {
  fleet: /No tables observed yet/,
  table: /No commits in this range/,
  commit: /No run of a linked job within 6 h/,
  'commits of a table': /No commits in this range/,
  reads: /No read was reported in this range/,
  columns: /No statistics of columns are known in this range/,
  partitions: /Partitions were not read at this instant/,
  schema: /No schema version known/,
  refs: /No branches or tags/,
  commits: /No commits in this range/,
  maintenance: /Nothing to do/,
  'maintenance of a table': /Nothing to do/,
  'forecast of a table': /No forecast of this table/,
  'at risk': /No table is at risk/,
  plan: /No transition is recorded/,
  'effect ledger': /No maintenance operation in this range/,
  findings: /Nothing is wrong with any table/,
  finding: /No known job reads the table/,
  alerts: /No alerts in the last 30 days/,
  incident: /No commit to the table in the window/,
  'alert without a table': /no observed table matches them/,
  status: /Sources/,
};

const SUMS = ['total', 'firing', 'resolved', 'scans', 'queries'];

/** Lists without rows, sums that are nought; what is one thing, as a commit, stays. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      typeof each === 'number' && SUMS.includes(name) ? 0 : emptied(each),
    ]),
  );
}

for (const view of ASKING)
  test(`${view.name}: nothing to show is said, and nothing breaks`, async ({ page }) => {
    await changeAnswer<Record<string, unknown>>(page, DATA, (body) => {
      Object.assign(body, emptied(body));
    });
    await page.goto(view.path);
    await expect(page.getByRole('main')).toContainText(EMPTY[view.name]!);
    expect(await page.getByRole('main').innerText()).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

for (const view of ASKING)
  test(`${view.name}: a slow response leaves the page's shape, is announced and can be cancelled`, async ({
    page,
    stub,
  }) => {
    const release = stub.hold();
    await page.goto(view.path);
    const shape = page.locator('[aria-busy=true]').first();
    await expect(shape).toBeVisible();
    await page.clock.runFor(4_000); // the page need not sit out the first half of the eight
    const waiting = page.getByRole('main').getByRole('group', { name: 'Waiting' });
    await expect(waiting).toContainText(/No response for 8 s.*Waiting for/, { timeout: 15_000 });
    await expect(shape).toBeVisible();
    await waiting.getByRole('button', { name: 'Cancel' }).click();
    await expect(waiting).toContainText('Cancelled after');
    release();
    await waiting.getByRole('button', { name: 'Retry' }).click();
    await view.drawn(page);
    await expect(waiting).toHaveCount(0);
  });

const refuse = (page: Page) =>
  page.route(DATA, (route) =>
    route.fulfill({
      status: 401,
      contentType: 'application/problem+json',
      json: { ...PROBLEM, status: 401 },
    }),
  );
/** A link of an alert leads on before anything is asked. */
const WAYS: Partial<Record<View['name'], RegExp>> = {
  incident: /\/login\?next=%2Falerts%2F[0-9a-f]{16}%3Fstarts_at%3D\d+$/,
  'alert without a table': /\/login\?next=%2Falerts%2Fresolve%3Falertname%3DLakehouseTableStale$/,
};

for (const view of ASKING)
  test(`${view.name}: 401 leads to the login once, with the way back`, async ({ page, complaints }) => {
    await refuse(page);
    await page.goto(view.path);
    const way = `/login?next=${encodeURIComponent(view.path)}`;
    await expect(page).toHaveURL(WAYS[view.name] ?? ((url) => url.pathname + url.search === way));
    expectOnly(complaints, /Failed to load resource/);
  });
