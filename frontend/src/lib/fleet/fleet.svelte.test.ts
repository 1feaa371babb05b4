import '../../app.css';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { axeFindings } from '../../test/axe.ts';
import type { AlertRow } from '#lib/alerts/words.ts';
import type { Schemas } from '#lib/api/client.ts';
import { choiceOf } from '#lib/commit/question.ts';
import AttentionList from './AttentionList.svelte';
import { firingByTable } from './firing.ts';
import FilterChips from './FilterChips.svelte';
import { readFilters } from './filters.ts';
import FleetTable from './FleetTable.svelte';
import { AT, fleetRow, HOUR_MS, SNAPSHOT } from './fixtures.ts';
import { fleetHref, readFleetView } from './question.ts';
import { queryOf, readViews } from './views.svelte.ts';
import ColumnMenu from './ColumnMenu.svelte';
import { USUAL } from './columns.ts';
import SavedViews from './SavedViews.svelte';
import StatusStrip from './StatusStrip.svelte';

const NOW = AT + HOUR_MS;
const CALM = fleetRow({
  table: 'orders',
  reason: { code: 'none', severity: 'ok', snapshot_id: null, at: null },
});

async function table(search = '') {
  const params = new URLSearchParams(search);
  return render(FleetTable, {
    rows: [fleetRow(), CALM],
    view: readFleetView(params),
    hrefOf: (change: object) => fleetHref(params, change),
    rangeQuery: '?from=now-6h',
    now: NOW,
  });
}

test('each table is a row with a link that keeps the range', async () => {
  const screen = await table();
  const link = screen.getByRole('link', { name: 'sales.customer_events' });
  await expect.element(link).toHaveAttribute('href', '/t/lake/sales/customer_events?from=now-6h');
  await expect.element(screen.getByRole('img', { name: 'Critical' })).toBeVisible();
  await expect.element(screen.getByRole('cell', { name: '+50,000', exact: false }).first()).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('the sorted column says so, and its heading turns the order', async () => {
  const screen = await table('sort=data_files');
  const heading = screen.getByRole('columnheader', { name: 'Files', exact: true });
  await expect.element(heading).toHaveAttribute('aria-sort', 'descending');
  await expect.element(heading.getByRole('link')).toHaveAttribute('href', '/?sort=data_files&dir=asc');
  expect(document.querySelectorAll('[aria-sort]')).toHaveLength(1);
});

test('what needs attention has its sentence, the moment and the commit', async () => {
  const screen = await render(AttentionList, {
    rows: [fleetRow(), CALM],
    range: new URLSearchParams(),
    now: NOW,
  });
  await expect.element(screen.getByText(/50,000 files in one append at 03:04\./)).toBeVisible();
  const commit = screen.getByRole('link', { name: 'Open the commit' });
  await expect.element(commit).toHaveAttribute('href', `/t/lake/sales/customer_events/commits/${SNAPSHOT}`);
  const open = screen.getByRole('link', { name: 'Open timeline of sales.customer_events' });
  expect(open.element().getAttribute('href')).toContain(`at=${AT}`);
  expect(screen.getByRole('listitem').elements()).toHaveLength(1);
  expect(await axeFindings()).toEqual([]);
});

test('the table of a firing alert is first and links to its incident; one flagged by nothing else follows', async () => {
  const paged = (table: string, fingerprint: string): AlertRow => ({
    finding: null,
    ...{ fingerprint, starts_at: AT, ends_at: null, heard_at: AT, state: 'firing', alert_name: 'Burst' },
    ...{ severity: 'critical', job_name: null, summary: 'many files', source: 'record', muted: null },
    table: { catalog: 'lake', table_namespace: 'sales', table },
  });
  const screen = await render(AttentionList, {
    rows: [fleetRow({ table: 'worse' }), fleetRow()],
    range: new URLSearchParams(),
    now: NOW,
    firing: firingByTable([paged('customer_events', 'f1'), paged('calm', 'f2')]),
  });
  expect(
    screen
      .getByRole('heading', { level: 3 })
      .elements()
      .map((each) => each.textContent),
  ).toEqual([
    expect.stringMatching(/^sales\.customer_events\s+firing for/),
    expect.stringMatching(/^sales\.calm\s+firing for/),
    expect.stringMatching(/^sales\.worse/),
  ]);
  const way = screen.getByRole('link', { name: 'Open incident Burst of sales.customer_events' });
  await expect.element(way).toHaveAttribute('href', `/alerts/f1?starts_at=${AT}`);
  expect(await axeFindings()).toEqual([]);
});

test('a calm fleet says that it is calm', async () => {
  const screen = await render(AttentionList, { rows: [CALM], range: new URLSearchParams(), now: NOW });
  await expect.element(screen.getByText('No table needs attention in this range.')).toBeVisible();
});

test('four tables are listed at first, eight at most, and the rest is counted', async () => {
  const rows = Array.from({ length: 11 }, (_, i) => fleetRow({ table: `t${i}` }));
  const screen = await render(AttentionList, { rows, range: new URLSearchParams(), now: NOW });
  expect(screen.getByRole('listitem').elements()).toHaveLength(4);
  await screen.getByRole('button', { name: '4 more' }).click();
  await expect.poll(() => screen.getByRole('listitem').elements()).toHaveLength(8);
  await expect.element(screen.getByText('worst 8 listed')).toBeVisible();
});

test('the strip knows no lag before the first pass, and makes no zero of it', async () => {
  const screen = await render(StatusStrip, {
    total: 2,
    worst: [fleetRow(), CALM],
    status: undefined,
    watermark: null,
    alerts: undefined,
    silent: true,
  });
  const strip = screen.getByRole('region', { name: 'Fleet status' });
  await expect.element(strip).toMatchTextContent(/no pass yet/);
  await expect.element(strip).toMatchTextContent(/not read\s*metadata lag/);
  await expect.element(strip).toMatchTextContent(/1\s*of 2 tables need attention/);
  await expect.element(strip).toMatchTextContent(/firing\s*alerts not read/);
});

test('the strip counts the tables that the list of attention names, those of alerts too', async () => {
  const alert = {
    ...{ alert_name: 'Burst', fingerprint: 'f00d', starts_at: 1, ends_at: null, state: 'firing' as const },
    table: { catalog: 'lake', table_namespace: 'sales', table: 'carts' },
  };
  const screen = await render(StatusStrip, {
    total: 3,
    worst: [fleetRow(), CALM],
    status: undefined,
    watermark: null,
    alerts: { rows: [alert], firing: 1 } as unknown as Schemas['AlertsPage'],
    silent: false,
  });
  const strip = screen.getByRole('region', { name: 'Fleet status' });
  await expect.element(strip).toMatchTextContent(/2\s*of 3 tables need attention/);
  await expect.element(strip).toMatchTextContent(/1 alert only/);
});

test('a table that fell silent is counted as stale and its row is faded', async () => {
  const silent = fleetRow({
    table: 'quiet',
    reason: { code: 'stale', severity: 'unknown', snapshot_id: null },
  });
  const strip = await render(StatusStrip, {
    total: 2,
    worst: [silent, CALM],
    status: undefined,
    watermark: null,
    alerts: undefined,
    silent: true,
  });
  const region = strip.getByRole('region', { name: 'Fleet status' });
  await expect.element(region).toMatchTextContent(/1\s*stale\s*0 unreadable/);
  await render(FleetTable, {
    rows: [silent, CALM],
    view: readFleetView(new URLSearchParams()),
    hrefOf: (change: object) => fleetHref(new URLSearchParams(), change),
    rangeQuery: '',
    now: NOW,
  });
  expect(document.querySelectorAll('tr.faded')).toHaveLength(1);
});

test('a page that is full of worse tables does not claim that none is stale', async () => {
  const strip = await render(StatusStrip, {
    total: 9,
    worst: [fleetRow()],
    status: undefined,
    watermark: null,
    alerts: undefined,
    silent: true,
  });
  await expect.element(strip.getByText('stale not counted')).toBeVisible();
});

test('a difference says how much it is of what was', async () => {
  const screen = await table();
  await expect.element(screen.getByRole('cell', { name: /\+50,000 ?\+4,?160 %/ }).first()).toBeVisible();
});

test('each filter is a chip that takes it away', async () => {
  const params = new URLSearchParams('q=ord&ns=lake.sales&from=now-6h');
  const screen = await render(FilterChips, {
    view: readFleetView(params),
    hrefOf: (change: object) => fleetHref(params, change),
  });
  const chip = screen.getByRole('link', { name: /namespace: lake\.sales/ });
  await expect.element(chip).toHaveAttribute('href', '/?q=ord&from=now-6h');
  expect(await axeFindings()).toEqual([]);
});

test('a view is saved under a name, leads to its address and can be removed', async () => {
  localStorage.removeItem('limnograph.views');
  const query = queryOf(new URLSearchParams('ns=lake.sales&sort=bytes&cursor=x&skip=50'));
  const screen = await render(SavedViews, { query });
  await screen.getByRole('button', { name: 'Views' }).click();
  await screen.getByRole('textbox', { name: 'Save this view as' }).fill('Sales <b>by size</b>');
  await screen.getByRole('button', { name: 'Save' }).click();
  const link = screen.getByRole('link', { name: 'Sales <b>by size</b>' });
  await expect.element(link).toHaveAttribute('href', '/?ns=lake.sales&sort=bytes');
  expect(readViews(localStorage.getItem('limnograph.views'))).toEqual([
    { name: 'Sales <b>by size</b>', query: '?ns=lake.sales&sort=bytes' },
  ]);
  expect(await axeFindings()).toEqual([]);
  await screen.getByRole('button', { name: /Remove the view/ }).click();
  expect(readViews(localStorage.getItem('limnograph.views'))).toEqual([]);
});

test('ready-made views are filters that their pages understand', async () => {
  const screen = await render(SavedViews, { query: '' });
  await screen.getByRole('button', { name: 'Views' }).click();
  const list = screen.getByRole('list', { name: 'Ready-made views' });
  await expect.element(list).toBeVisible();
  const links = list.getByRole('link').elements();
  const paramsOf = (page: string) =>
    links
      .map((link) => new URL(link.getAttribute('href') ?? '', 'http://localhost'))
      .filter((url) => url.pathname === page)
      .map((url) => url.searchParams);
  expect(paramsOf('/').map(readFilters)).toEqual([
    expect.objectContaining({ grew: 0.2, within: 300 }),
    expect.objectContaining({ planning: 1 }),
    expect.objectContaining({ missed: 0.5 }),
    expect.objectContaining({ code: 'null_share_jump' }),
  ]);
  expect(paramsOf('/').map((params) => readFleetView(params).sort)).toEqual([
    ...['growth', 'planning_p95', 'missed_share', 'attention'],
  ]);
  expect(paramsOf('/commits').map(choiceOf)).toEqual([
    expect.objectContaining({ min: '10000', sort: 'files' }),
  ]);
});

test('stored views that lead elsewhere are left out', () =>
  expect(
    readViews('[{"name":"x","query":"//evil"},{"name":5,"query":""},null,{"name":"ok","query":""}]'),
  ).toEqual([{ name: 'ok', query: '' }]));

test('the columns that were chosen are shown, sorted by the server, and a number that is not known is a dash', async () => {
  const screen = await table('cols=files,delta_share_files,skew&cmp=1d');
  const heads = screen
    .getByRole('columnheader')
    .elements()
    .map((each) => each.textContent.trim());
  expect(heads).toEqual(['Table', 'Reason', 'Files', 'Δ files %', 'Skew', 'Files over time']);
  const share = screen.getByRole('link', { name: 'Δ files %' });
  await expect.element(share).toHaveAttribute('href', expect.stringContaining('sort=delta_share_data_files'));
  await expect.element(share).toHaveAttribute('title', expect.stringContaining('over the last 1 d'));
  await expect.element(screen.getByRole('cell', { name: '2.9×' }).first()).toBeVisible();
  const unknown = await render(FleetTable, {
    rows: [fleetRow({ table: 'unread', values: { skew_max_over_median: null } })],
    view: readFleetView(new URLSearchParams('cols=skew')),
    hrefOf: () => '/',
    rangeQuery: '',
    now: NOW,
  });
  await expect.element(unknown.getByRole('cell', { name: 'not read', exact: true })).toMatchTextContent(/^–/);
  expect(await axeFindings()).toEqual([]);
});

test('a column is turned on and off, and the last one stays', async () => {
  const chosen: (readonly string[])[] = [];
  const screen = await render(ColumnMenu, { cols: ['files'], onchange: (cols) => chosen.push(cols) });
  await screen.getByRole('button', { name: 'Columns' }).click();
  await expect.element(screen.getByRole('checkbox', { name: /^Files/ })).toBeDisabled();
  await screen.getByRole('checkbox', { name: /^Skew/ }).click();
  await screen.getByRole('button', { name: 'Reset to default' }).click();
  expect(chosen).toEqual([['files', 'skew'], USUAL]);
  expect(await axeFindings()).toEqual([]);
});
