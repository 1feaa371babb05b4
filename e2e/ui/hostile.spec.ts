// Names come from whoever may create a table: they are text in every view, tooltip, axis, title and export.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { TimelinePage } from '../timeline.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { VIEWS } from './pages.ts';
import { TABLE, NIGHT } from './moment.ts';

const MARKUP = '<img src=x onerror=owned=1>';
const BIDI = '\u202Egnp.\u2066exe\u200F';
const FORMULA = '=HYPERLINK("http://evil.example","x")';
const HOSTILE = `${MARKUP}${BIDI}`;
const ESCAPED: Record<string, string> = { '~': '~~', '.': '~d', '/': '~s' };
/** Texts that the lake's writers choose. */
const NAMED = new Set([
  'table',
  'namespace',
  'name',
  'label',
  'app_id',
  'app_name',
  'user',
  'engine',
  'operation',
  'detail',
  'partition',
  'job_name',
  'location',
  'alert_name',
  'severity',
  'summary',
  'description',
  'team',
  'action',
  'because',
  'owner',
  'writer',
]);

function spoil(value: unknown, sign = HOSTILE): unknown {
  if (Array.isArray(value)) return value.map((each) => spoil(each, sign));
  if (value === null || typeof value !== 'object') return value;
  // an alert's severity is a label that anybody writes; that of a finding, its transition or a reason is a word of the server's
  const free = (name: string) =>
    NAMED.has(name) && !(name === 'severity' && ('code' in value || 'seq' in value));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      free(name) && typeof each === 'string' ? `${sign}${each}` : spoil(each, sign),
    ]),
  );
}

async function spoiled(page: Page): Promise<void> {
  await changeAnswer<Record<string, unknown>>(page, /\/api\/v1\/(?!stream)/, (body) => {
    Object.assign(body, spoil(body));
  });
}

/** What the button CSV saves. */
async function exported(page: Page): Promise<string> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: /^CSV/ }).click();
  const file = await download;
  expect(file.suggestedFilename()).not.toMatch(/[<>/]/);
  return readFileSync(await file.path(), 'utf8');
}
/** No cell that a spreadsheet computes. */
function harmless(csv: string): void {
  expect(csv.split('\r\n').length).toBeGreaterThan(3);
  for (const line of csv.split('\r\n')) expect(line).not.toMatch(/(^|,)"?[=+@]/);
}

const owned = (page: Page) => page.evaluate(() => 'owned' in globalThis);

for (const view of VIEWS)
  test(`${view.name}: hostile names stay text`, async ({ page, stub }) => {
    await spoiled(page);
    // a page that learns its table's name from an answer asks for it by the name it was told
    stub.rename(encodeURIComponent(HOSTILE.replaceAll(/[~./]/g, (sign) => ESCAPED[sign] ?? sign)), '');
    await page.goto(view.path);
    await view.drawn(page);
    expect(await page.locator('main img[src], main script').count()).toBe(0);
    if (view.named) await expect(page.getByRole('main')).toContainText('onerror');
    expect(await owned(page)).toBe(false);
  });

test('a table that is called markup: title, breadcrumb, cursor, file name and exports', async ({
  page,
  stub,
}) => {
  await changeAnswer<Record<string, unknown>>(page, /\/timeline\?/, (body) => {
    Object.assign(body, spoil(body));
    const lane = (body['lanes'] as { unit?: string }[])[1]; // the overview above the lanes asks for one only
    if (lane) lane.unit = FORMULA;
  });
  const encoded = encodeURIComponent(MARKUP);
  stub.rename(encoded, 'customer_events');
  await page.goto(`/t/lake/sales/${encoded}?${NIGHT}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await expect(page).toHaveTitle(/<img src=x/);
  await expect(page.getByRole('navigation', { name: 'Breadcrumb' })).toContainText(MARKUP);
  await timeline.hover('Commits', 0.5);
  await page.getByRole('button', { name: 'View as table' }).click();
  await page.getByRole('button', { name: 'Share' }).click();
  harmless(await exported(page));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy Summary' }).click();
  const markdown = await page.evaluate(() => navigator.clipboard.readText());
  expect(markdown).toContain('img src=x');
  expect(markdown, 'a tag that a Markdown page would run').not.toMatch(/(?<!\\)<img/);
  // a picture is a document of its own: it is opened as one
  const drawing = page.waitForEvent('download');
  await page.getByRole('button', { name: 'SVG' }).click();
  const svg = readFileSync(await (await drawing).path(), 'utf8');
  expect(svg).toContain('&lt;img src=x onerror=owned=1&gt;');
  const pixels = page.waitForEvent('download');
  await page.getByRole('button', { name: 'PNG' }).click();
  const png = readFileSync(await (await pixels).path());
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect(png.readUInt32BE(16)).toBe(2 * Number(/width="(\d+)"/.exec(svg)?.[1]));
  const alone = await page.context().newPage();
  await alone.route('**/picture.svg', (route) => route.fulfill({ contentType: 'image/svg+xml', body: svg }));
  await alone.goto(new URL('/picture.svg', page.url()).href);
  expect(await alone.locator('svg svg').count()).toBeGreaterThan(5);
  expect(await alone.locator('script, img, foreignObject, a').count()).toBe(0);
  expect(await owned(alone)).toBe(false);
  await alone.close();
  expect(await owned(page)).toBe(false);
});

for (const name of ['fleet', 'partitions', 'effect ledger'])
  test(`${name}: no cell of the exported list is a formula`, async ({ page, stub }) => {
    const view = VIEWS.find((each) => each.name === name)!;
    await changeAnswer<Record<string, unknown>>(page, /\/api\/v1\/(?!stream)/, (body) => {
      Object.assign(body, spoil(body, FORMULA));
    });
    stub.rename(encodeURIComponent(FORMULA.replaceAll(/[~./]/g, (each) => ESCAPED[each] ?? each)), '');
    await page.goto(view.path);
    await view.drawn(page);
    const csv = await exported(page);
    expect(csv).toContain('HYPERLINK');
    harmless(csv);
  });
