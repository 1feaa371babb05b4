// Questions of the reader's own (M9 to M11 of the audit): filters of the fleet, the finder, comparisons.
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { serveFacets } from './facets.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { at, BURST_AT, BURST_ID, TABLE } from './moment.ts';
import { TimelinePage } from '../timeline.ts';
import type { Fleet, Timeline } from './wire.ts';
import { sideways } from './ways.ts';

const FILTERS = [
  'severity',
  'code',
  'acknowledged',
  'owner',
  'format',
  'has_job',
  'grew',
  'within',
  'planning',
  'missed',
];
/** Orders that the recorded list does not have. */
const UNRECORDED = ['growth', 'planning_p95', 'missed_share'];
const HOUR_MS = 3_600_000;
const OTHER = 'lake.sales.orders';

// a request that is still under way when a scenario ends has no answer
test.afterEach(({ page }) => page.unrouteAll({ behavior: 'ignoreErrors' }));

/** Answers questions about the fleet from the recorded list, as a server would whose tables of `sales` alone match. */
async function serveFilters(page: Page): Promise<URL[]> {
  const asked: URL[] = [];
  await page.route(/\/api\/v1\/tables\?/, async (route) => {
    const url = new URL(route.request().url());
    const filtered = FILTERS.filter((name) => url.searchParams.has(name));
    for (const name of filtered) url.searchParams.delete(name);
    if (filtered.length) asked.push(new URL(route.request().url()));
    // the worst tables of the whole fleet are the first of the recorded list
    for (const name of ['q', 'ns']) if (!url.searchParams.has(name)) url.searchParams.set(name, '');
    if (UNRECORDED.includes(url.searchParams.get('sort') ?? '')) url.searchParams.set('sort', 'attention');
    const answer = await route.fetch({ url: url.href });
    const body = (await answer.json()) as Fleet;
    if (filtered.length) {
      const none = asked.at(-1)?.searchParams.get('format') === 'hudi';
      const rows = none ? [] : body.rows.filter(({ namespace }) => namespace === 'sales');
      const at = Date.parse('2026-11-21T03:04:12Z');
      rows.forEach((row, i) =>
        Object.assign(row, {
          growth: i > 1 ? null : { files_before: 100, files_after: i ? 130 : 400, share: i ? 0.3 : 3, at },
          reads: i
            ? null
            : {
                scans: 412,
                queries: 9,
                planning_p95_seconds: 1.4,
                query_p95_seconds: null,
                missed_share: 0.83,
              },
        }),
      );
      Object.assign(body, { rows, total: rows.length });
    }
    await route.fulfill({ json: body });
  });
  await serveFacets(page);
  return asked;
}

const chips = (page: Page) => page.getByRole('list', { name: 'Filters' }).getByRole('link');

test('M10: which tables grew by more than 20 % in an hour is asked by keyboard, and is in the address', async ({
  page,
}) => {
  const asked = await serveFilters(page);
  await page.goto('/');
  const open = page.getByRole('button', { name: 'Filter', exact: true });
  await open.focus();
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog', { name: 'Filters' });
  await expect(form.getByLabel('Severity')).toBeFocused();
  await form.getByLabel('Grew by more than').focus();
  await page.keyboard.type('20');
  await page.keyboard.press('Tab');
  await expect(page).toHaveURL(/grew=0\.2/);
  await expect(chips(page)).toHaveText(['grew > 20 % within 1 h']);
  await expect(page.getByRole('columnheader', { name: 'Growth' })).toBeVisible();
  await expect(page.getByRole('cell', { name: '+300 %' })).toContainText('100 → 400');
  expect(asked.at(-1)?.searchParams.get('within')).toBe(String(HOUR_MS / 1000));
  await form.getByLabel('within').selectOption('900');
  await expect(page).toHaveURL(/within=15m/);
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Growth' }).getByRole('link').press('Enter');
  await expect(page).toHaveURL(/sort=growth/);
  await expect.poll(() => asked.at(-1)?.searchParams.get('sort')).toBe('growth');
  await accessible(page);
});

test('ready-made views list slow planning and scans that miss the partitions, with their numbers', async ({
  page,
  stub,
}) => {
  stub.nearest = true; // the last request may come when the scenario and its routes have ended
  const asked = await serveFilters(page);
  await page.goto('/');
  const views = page.getByRole('button', { name: 'Views' });
  await views.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Tables whose scans take more than 1 s to plan' }).press('Enter');
  await expect(page).toHaveURL(/planning=1/);
  await expect(chips(page)).toHaveText(['planning p95 > 1 s']);
  await expect(page.getByRole('columnheader', { name: 'Planning p95' })).toBeVisible();
  await expect(page.getByRole('cell', { name: '1.4 s' })).toBeVisible();
  expect(asked.at(-1)?.searchParams.get('sort')).toBe('planning_p95');
  await accessible(page);
  await views.press('Enter');
  await page.getByRole('link', { name: 'Tables where most scans miss the partition filter' }).press('Enter');
  await expect(chips(page)).toHaveText(['scans that miss the partitions > 50 %']);
  await expect(page.getByRole('cell', { name: '83 %', exact: true })).toBeVisible();
  await chips(page).first().press('Enter');
  await expect(page).not.toHaveURL(/missed=0/);
});

test('each filter has its numbers, a chip that takes it away, and a plain word when nothing matches', async ({
  page,
}) => {
  const asked = await serveFilters(page);
  await page.goto('/?owner=data-platform');
  await expect(chips(page)).toHaveText(['owner: data-platform']);
  await page.getByRole('button', { name: 'Filter 1' }).click();
  const form = page.getByRole('dialog', { name: 'Filters' });
  await expect(form.getByLabel('Severity').locator('option')).toHaveText([
    ...['any', 'Critical (0)', 'Warning (1)', 'Info (2)'],
  ]);
  await expect(form.getByRole('status')).toHaveText('3 tables match');
  await form.getByLabel('Severity').selectOption('warning');
  await form.getByLabel('Finding').selectOption('file_burst');
  await form.getByLabel('Job').selectOption('true');
  await expect(page).toHaveURL(/owner=data-platform&severity=warning&code=file_burst&has_job=true/);
  await accessible(page);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Filter 4' })).toBeFocused();
  await chips(page).filter({ hasText: 'owner' }).press('Enter');
  await expect(page).not.toHaveURL(/owner/);
  await expect(chips(page)).toHaveCount(3);
  expect(asked.at(-1)?.searchParams.get('has_job')).toBe('true');
  await page.goto('/?format=hudi&has_job=false');
  await expect(page.getByText('No table matches')).toBeVisible();
  await expect(page.getByText('No table has format: hudi and has no job.')).toBeVisible();
  await accessible(page);
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await expect(page).toHaveURL(/\/$/);
});

test('filters fit a phone, and an unknown value is named', async ({ page }) => {
  await serveFilters(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/?owner=data-platform&severity=warning&grew=0.2');
  await expect(chips(page)).toHaveCount(3);
  await page.getByRole('button', { name: 'Filter 3' }).click();
  const form = page.getByRole('dialog', { name: 'Filters' });
  await expect(form.getByRole('status')).toHaveText('3 tables match');
  const box = await form.boundingBox();
  expect(box!.x).toBeGreaterThanOrEqual(0);
  expect(box!.x + box!.width).toBeLessThanOrEqual(390);
  expect(await sideways(page)).toBe(0);
  await page.keyboard.press('Escape');
  await accessible(page);
  await page.goto('/?severity=loud&grew=much');
  await expect(page.getByRole('group', { name: 'Address' })).toContainText('severity, grew');
});

const MARK = '9266ef3da838ad95';
const NOTHING = {
  catalog: null,
  namespace: null,
  table: null,
  name: null,
  at: null,
  tables: null,
  commits: null,
};
const EVENTS = { catalog: 'lake', namespace: 'sales', table: 'customer_events' };
const MATCHES: Record<string, object[]> = {
  [BURST_ID]: [
    {
      ...NOTHING,
      ...EVENTS,
      kind: 'commit',
      id: BURST_ID,
      path: `/t/lake/sales/customer_events/commits/${BURST_ID}`,
      at: BURST_AT,
    },
  ],
  [MARK]: [
    { ...NOTHING, kind: 'alert', id: MARK, path: `/alerts/${MARK}`, name: 'SmallFileProliferation', at: 1 },
  ],
  application_17: [
    {
      ...NOTHING,
      ...EVENTS,
      kind: 'application',
      id: 'application_17',
      path: `/t/lake/sales/customer_events/commits/${BURST_ID}`,
      tables: 2,
      commits: 12,
    },
  ],
  rollup: [
    {
      ...NOTHING,
      ...EVENTS,
      kind: 'job',
      id: 'rollup_orders',
      path: '/t/lake/sales/customer_events?job=rollup_orders',
      tables: 1,
    },
  ],
};

/** Answers the finder; `held`: answers wait for it. */
async function serveFinder(page: Page, held: Promise<void> = Promise.resolve()): Promise<string[]> {
  const asked: string[] = [];
  await page.route(/\/api\/v1\/find\?/, async (route) => {
    const q = new URL(route.request().url()).searchParams.get('q') ?? '';
    asked.push(q);
    await held;
    await route.fulfill({ json: { rows: MATCHES[q] ?? [], not_searched: [] } }).catch(() => undefined);
  });
  return asked;
}

test('M11: an id pasted on any page is found, and Enter pressed before the answer is kept', async ({
  page,
}) => {
  let answer = () => {};
  const asked = await serveFinder(page, new Promise((done) => (answer = done)));
  await page.goto('/status');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('/');
  const field = page.getByRole('combobox', { name: /table/i });
  await expect(field).toBeFocused();
  await page.keyboard.insertText(BURST_ID);
  await page.keyboard.press('Enter');
  await expect.poll(() => asked).toContain(BURST_ID);
  await expect(page).toHaveURL(/\/status$/);
  answer();
  await expect(page).toHaveURL(new RegExp(`/t/lake/sales/customer_events/commits/${BURST_ID}$`));
  await expect(page.getByText('51,202').first()).toBeVisible();
});

test('the palette finds fingerprints, applications and jobs of all tables, with what they are', async ({
  page,
}) => {
  const asked = await serveFinder(page);
  await page.goto('/status');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: /Table, page or command/ });
  for (const [text, words] of [
    [BURST_ID, /Commit 5184430069070270604.*sales\.customer_events/],
    ['application_17', /Application application_17.*12 commits · 2 tables/],
    ['rollup', /Job rollup_orders.*sales\.customer_events/],
    [MARK, /Alert.*9266ef3da838ad95|Alert SmallFileProliferation/],
  ] as const) {
    await field.fill(text);
    await expect(page.getByRole('option', { name: words }).first()).toBeVisible();
  }
  await accessible(page);
  await field.fill('nothing has this name');
  await expect(page.getByText('No matches.')).toBeVisible();
  expect(asked).toContain('rollup');
});

test('an empty fleet is a checklist that ticks itself', async ({ page }) => {
  let jobs = 0;
  await page.route(/\/api\/v1\/tables\?/, (route) =>
    route.fulfill({
      json: { rows: [], total: 0, next_cursor: null, watermark: null, namespaces: [], hints: [] },
    }),
  );
  await page.route(/\/api\/v1\/tables\/heat/, (route) =>
    route.fulfill({ json: { from: 0, to: 1, total: 0, watermark: null, rows: [] } }),
  );
  await changeAnswer<{ jobs: number; sources: { kind: string }[] }>(page, /\/api\/v1\/status/, (status) => {
    Object.assign(status, { jobs, sources: status.sources.filter(({ kind }) => kind !== 'prometheus') });
  });
  await page.goto('/');
  const list = page.getByRole('region', { name: 'Set up Limnograph' });
  const step = (name: string) => list.getByRole('listitem').filter({ hasText: name });
  await expect(step('Catalog').getByRole('img', { name: 'Done', exact: true })).toBeVisible();
  await expect(step('Prometheus').getByRole('img', { name: 'Not done' })).toBeVisible();
  await expect(step('Prometheus').getByText('[prometheus.main]')).toBeVisible();
  await expect(step('A job').getByRole('img', { name: 'Not done' })).toBeVisible();
  await accessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await sideways(page)).toBe(0);
  jobs = 1;
  await page.reload();
  await expect(step('A job').getByRole('img', { name: 'Done', exact: true })).toBeVisible();
});

test('M9: the lanes of another table are drawn beside its own, and the address keeps them', async ({
  page,
}) => {
  const asked: (string | null)[] = [];
  await page.route(/\/timeline\?.*cmp_table=/, async (route) => {
    const url = new URL(route.request().url());
    asked.push(url.searchParams.get('cmp_table'));
    url.searchParams.delete('cmp_table');
    const body = (await (await route.fetch({ url: url.href })).json()) as Timeline;
    const lanes = body.lanes.filter(({ id }) => id === 'data_files');
    const less = lanes.map((lane) => ({ ...lane, v: lane.v!.map((value) => value && value - 100) }));
    await route.fulfill({ json: { ...body, cmp: { seconds: 0, table: OTHER, lanes: less } } });
  });
  // names are suggested while one is typed; a fast hand is ahead of them
  await page.route(/\/api\/v1\/tables\?.*limit=8\b/, (route) =>
    route.fulfill({
      json: { rows: [], total: 0, next_cursor: null, watermark: null, namespaces: [], hints: [] },
    }),
  );
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?from=${at('05:00')}&to=${at('06:00')}&lanes=data_files,job_duration`);
  await timeline.drawn();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Compare with' });
  await accessible(page);
  await dialog.getByRole('textbox', { name: 'How long ago' }).fill('soon');
  await dialog.getByRole('textbox', { name: 'How long ago' }).press('Enter');
  await expect(dialog.getByRole('textbox', { name: 'How long ago' })).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByRole('combobox', { name: 'Another table' }).fill(OTHER);
  await dialog.getByRole('combobox', { name: 'Another table' }).press('Enter');
  await expect(page).toHaveURL(/cmp=lake\.sales\.orders/);
  await expect(timeline.panel.locator('path[data-earlier=data_files]')).toHaveCount(1);
  await expect(timeline.gutter('Data files').locator('.change')).toHaveText('+100');
  expect(new Set(asked)).toEqual(new Set([OTHER]));
  await page.reload();
  await timeline.drawn();
  await expect(timeline.panel.locator('path[data-earlier=data_files]')).toHaveCount(1);
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await dialog.getByRole('button', { name: 'Nothing' }).click();
  await expect(page).not.toHaveURL(/cmp=/);
  await expect(timeline.panel.locator('path[data-earlier=data_files]')).toHaveCount(0);
});
