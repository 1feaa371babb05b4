import '../../app.css';
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import { merges, NOTHING, readsPage } from './fixtures.ts';
import ReadsPanel from './ReadsPanel.svelte';

const links = { commitHref: (id: string) => `/commits/${id}`, partitionsHref: '/partitions' };

test('a filter that nothing prunes is a sentence, and engines, readers and old snapshots are listed', async () => {
  const screen = await render(ReadsPanel, { page: readsPage(), ...links });
  const filters = screen.getByRole('region', { name: 'Filters' });
  await expect.element(filters.getByText(/83 % of scans filter/)).toBeVisible();
  await expect.element(filters.getByText('customer_id').first()).toBeVisible();
  const readers = screen.getByRole('region', { name: 'Readers of the table' });
  await expect
    .element(readers.getByRole('row', { name: /rollup_customer_events spark 4.1.0 etl/ }))
    .toBeVisible();
  await expect.element(screen.getByRole('row', { name: /^trino 32 unknown unknown 88/ })).toBeVisible();
  const old = screen.getByRole('link', { name: '5184430069070270604' });
  await expect.element(old).toHaveAttribute('href', '/commits/5184430069070270604');
  expect([await axeFindings(), doubleIds()]).toEqual([[], []]);
});

test('the chart is an image with its numbers, and a table by its button', async () => {
  const screen = await render(ReadsPanel, { page: readsPage(), ...links });
  await expect
    .element(screen.getByRole('img', { name: /between 50 % and 96 %. At most 25 files cover one value/ }))
    .toBeVisible();
  await screen.getByRole('button', { name: 'Table' }).click();
  const table = screen.getByRole('region', { name: 'Reads by time' });
  await expect.element(table.getByRole('row').nth(24)).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('the recommended write mode is stated with its numbers, and default modes are marked as such', async () => {
  const screen = await render(ReadsPanel, { page: readsPage(), ...links });
  const merging = screen.getByRole('region', { name: 'Merge on read' });
  await expect
    .element(merging.getByText(/Copy-on-write fits: 412 scans .* merged 0.42 delete files per data file/))
    .toBeVisible();
  const modes = merging.getByRole('list', { name: 'Write modes' });
  await expect.element(modes.getByText('not set, the default').first()).toBeVisible();
  await expect
    .element(merging.getByRole('link', { name: 'By partition' }))
    .toHaveAttribute('href', '/partitions');
});

test('without reads the page says how they are reported', async () => {
  const nothing = {
    total: NOTHING,
    engines: [],
    points: [],
    filters_known: 0,
    filters: [],
    readers: [],
    stale: [],
    merges: merges({ because: 'no_scans', fits: null, merged_files: null, merged_bytes: null }),
  };
  const screen = await render(ReadsPanel, { page: readsPage(nothing), ...links });
  await expect
    .element(screen.getByRole('heading', { name: 'No read was reported in this range' }))
    .toBeVisible();
  await expect.element(screen.getByText('docs/events.md')).toBeVisible();
  const merging = screen.getByRole('region', { name: 'Merge on read' });
  await expect.element(merging.getByText(/is not known, because no engine reported a scan/)).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('the page fits a phone', async () => {
  await page.viewport(390, 844);
  await render(ReadsPanel, { page: readsPage(), ...links });
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390);
  await page.viewport(1280, 900);
});
