import '../../app.css';
import { expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import { BURST, partitionRow, partitionsPage } from './fixtures.ts';
import PartitionsPanel from './PartitionsPanel.svelte';
import { PartitionsView } from './PartitionsView.svelte.ts';

const HOUR = 3_600_000;

async function show(change: Parameters<typeof partitionsPage>[0] = {}, query = '') {
  const view = new PartitionsView();
  view.read(
    new URLSearchParams(`from=${BURST - 6 * HOUR}&to=${BURST + 3 * HOUR}&at=${BURST + HOUR}&cmp=2h${query}`),
  );
  const told = { ona: vi.fn<(at: number) => void>(), onb: vi.fn<(at: number) => void>(), onfilter: vi.fn() };
  const commitHref = (id: string) => `/commits/${id}`;
  const screen = await render(PartitionsPanel, { page: partitionsPage(change), view, commitHref, ...told });
  return { screen, ...told };
}

test('the partition that grew is in the headline, first in the table and in the histogram', async () => {
  const { screen } = await show();
  await expect.element(screen.getByText('dt=2026-11-20 grew from 84 to 50,084 files.')).toBeVisible();
  await expect.element(screen.getByText('1 of 14 partitions holds 98 % of files')).toBeVisible();
  await expect.element(screen.getByRole('row', { name: /dt=2026-11-20 50,084 98 % \+50,000/ })).toBeVisible();
  await expect.element(screen.getByRole('img', { name: /50,003 files under 1 MiB/ })).toBeVisible();
  await expect
    .element(screen.getByRole('link', { name: '5184430069070270604' }))
    .toHaveAttribute('href', '/commits/5184430069070270604');
  expect([await axeFindings(), doubleIds()]).toEqual([[], []]);
});

test('handles move by keys and say where they are', async () => {
  const { screen, ona, onb } = await show();
  const b = screen.getByRole('slider', { name: 'Instant B' });
  await expect.element(b).toHaveAttribute('aria-valuetext', '21 Nov 2026, 04:04:12 UTC, 51,202 files');
  (b.element() as HTMLElement).focus();
  await userEvent.keyboard('{ArrowLeft}');
  expect(onb.mock.calls[0]?.[0]).toBeLessThan(BURST + HOUR);
  (screen.getByRole('slider', { name: 'Instant A, baseline' }).element() as HTMLElement).focus();
  await userEvent.keyboard('{Home}');
  expect(ona).toHaveBeenCalledWith(BURST - 6 * HOUR);
});

test('the picture is a grid that keys walk; Enter looks at a moment', async () => {
  const { screen, onb } = await show();
  (screen.getByRole('grid').element() as HTMLElement).focus();
  await userEvent.keyboard('{End}{ArrowLeft}{ArrowDown}');
  await expect.element(screen.getByText(/dt=2026-11-19, 21 Nov 04:04 to 05:04: 64 files/)).toBeVisible();
  await userEvent.keyboard('{Enter}');
  expect(onb).toHaveBeenCalledWith(BURST + 2 * HOUR);
  await userEvent.keyboard('{ArrowRight}');
  await expect.element(screen.getByText(/: not read/)).toBeVisible();
});

test('both pictures have a table with the same numbers', async () => {
  const { screen } = await show();
  await screen.getByRole('button', { name: 'Table' }).first().click();
  await expect.element(screen.getByRole('row', { name: /under 1 MiB 50,003 3 98 %/ })).toBeVisible();
  await screen.getByRole('button', { name: 'Table' }).last().click();
  await expect
    .element(
      screen.getByRole('row', { name: /^dt=2026-11-20 84 84 84 84 84 84 50,084 50,084 .*: not read$/ }),
    )
    .toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('a filter is typed into its field; what it hides can be shown again', async () => {
  const { screen, onfilter } = await show({ rows: [], matching: 0 }, '&partition=dt%3D2020');
  await expect.element(screen.getByText(/No partition matches the filter/)).toBeVisible();
  await expect.element(screen.getByRole('link', { name: 'Show all' })).toBeVisible();
  const field = screen.getByRole('textbox', { name: 'dt' });
  await field.fill('2026-*');
  await userEvent.keyboard('{Tab}');
  expect(onfilter).toHaveBeenCalledWith('dt', '2026-*');
});

test('what no row shows is one line of its own, and what is not known is said', async () => {
  const rest = { partitions: 12_210, data_files: 98_000, delete_files: 0, bytes: null };
  const rows = [partitionRow({ data_files_delta: null, bytes: null, average_file_bytes: null })];
  const { screen } = await show({ rest, rows, heat: null });
  await expect
    .element(screen.getByRole('row', { name: /12,210 other partitions 98,000 not read/ }))
    .toBeVisible();
  await expect.element(screen.getByRole('row', { name: /50,084 98 % not read/ })).toBeVisible();
});

test('names of the observed table stay text', async () => {
  const evil = '<img src=x onerror=alert(1)>';
  const heat = { t: [BURST], step: HOUR, rows: [{ partition: evil, spec_id: 0, data_files: [1] }] };
  await show({
    rows: [partitionRow({ partition: evil })],
    heat,
    partition_fields: [{ name: evil, transform: 'identity', source_id: 1 }],
  });
  expect(document.querySelector('img')).toBeNull();
});

test('320 px need no sideways scroll of the page', async () => {
  await page.viewport(320, 800);
  await show();
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(320);
  await page.viewport(1280, 800);
});
