// Questions of the reader's own (M9 to M11 of the audit): filters of the fleet, the finder, comparisons.
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { expect, test } from './fixtures.ts';
import type { Fleet } from './wire.ts';
import { sideways } from './ways.ts';

const FILTERS = ['severity', 'code', 'acknowledged', 'owner', 'format', 'has_job', 'grew', 'within'];
const HOUR_MS = 3_600_000;

/** Answers questions about the fleet from the recorded list, as a server would whose tables of `sales` alone match. */
async function serveFilters(page: Page): Promise<URL[]> {
  const asked: URL[] = [];
  await page.route(/\/api\/v1\/tables\?/, async (route) => {
    const url = new URL(route.request().url());
    const filtered = FILTERS.filter((name) => url.searchParams.has(name));
    for (const name of filtered) url.searchParams.delete(name);
    if (filtered.length) asked.push(new URL(route.request().url()));
    const growing = url.searchParams.get('sort') === 'growth';
    if (growing) url.searchParams.set('sort', 'attention');
    const answer = await route.fetch({ url: url.href });
    const body = (await answer.json()) as Fleet;
    if (filtered.length) {
      const none = asked.at(-1)?.searchParams.get('format') === 'hudi';
      const rows = none ? [] : body.rows.filter(({ namespace }) => namespace === 'sales');
      const at = Date.parse('2026-11-21T03:04:12Z');
      rows.forEach((row, i) =>
        Object.assign(row, {
          growth: i > 1 ? null : { files_before: 100, files_after: i ? 130 : 400, share: i ? 0.3 : 3, at },
        }),
      );
      Object.assign(body, { rows, total: rows.length });
    }
    await route.fulfill({ json: body });
  });
  await page.route(/\/api\/v1\/tables\/facets/, (route) =>
    route.fulfill({
      json: {
        total: 3,
        severity: ['critical', 'warning', 'info'].map((value, i) => ({ value, tables: i })),
        code: [{ value: 'file_burst', tables: 2 }],
        acknowledged: [
          { value: 'true', tables: 0 },
          { value: 'false', tables: 3 },
        ],
        owner: [{ value: 'data-platform', tables: 3 }],
        format: [{ value: 'iceberg', tables: 10 }],
        has_job: [
          { value: 'true', tables: 4 },
          { value: 'false', tables: 8 },
        ],
        namespace: [],
      },
    }),
  );
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
  await expect(chips(page)).toHaveText(['grew > 20 % within 1 hremove']);
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

test('each filter has its numbers, a chip that takes it away, and a plain word when nothing matches', async ({
  page,
}) => {
  const asked = await serveFilters(page);
  await page.goto('/?owner=data-platform');
  await expect(chips(page)).toHaveText(['owner: data-platformremove']);
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
  await accessible(page);
  await page.goto('/?severity=loud&grew=much');
  await expect(page.getByRole('group', { name: 'Address' })).toContainText('severity, grew');
});
