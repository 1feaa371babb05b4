import '../../app.css';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import type { Schemas } from '#lib/api/client.ts';
import { ApiProblem } from '#lib/api/problem.ts';
import { instant } from '#lib/format/instant.ts';
import { BURST, BURST_ID, story } from '#lib/timeline/fixtures/story.ts';
import { commitsOf, type Lane } from '#lib/api/lanes.ts';
import { axeFindings } from '../../test/axe.ts';
import CommitPanel from './CommitPanel.svelte';
import HintLine from './HintLine.svelte';
import LaneActions from '#lib/table/tools/LaneActions.svelte';
import LaneChoice from '#lib/table/tools/LaneChoice.svelte';
import PrintedSheet from './PrintedSheet.svelte';
import TableFacts from './TableFacts.svelte';
import TableState from './TableState.svelte';
import { TimelineView } from './TimelineView.svelte.ts';

const blank = {
  records: null,
  bytes: null,
  file_size_p50: null,
  manifests: null,
  live_snapshots: null,
  skew_max_over_median: null,
  commits: 0,
  last_committed_at: null,
  job_duration_seconds: null,
  job_p95_seconds: null,
};

function detail(more: Partial<Schemas['TableDetail']> = {}): Schemas['TableDetail'] {
  return {
    catalog: 'lake',
    namespace: 'sales',
    table: 'customer_events',
    table_uuid: 'u',
    format: 'iceberg',
    format_version: 2,
    location: null,
    status: 'ok',
    unreadable_code: null,
    unreadable_detail: null,
    reason: {
      code: 'file_burst',
      severity: 'critical',
      sentence: '50,000 files in one append at 03:04',
      magnitude: 41,
      snapshot_id: BURST_ID,
      at: BURST,
    },
    findings: [],
    schema_id: 13,
    fields: [],
    spec_id: 2,
    partition_fields: [],
    refs: [],
    values: { ...blank, data_files: 51_202, small_files: 50_000, delete_files: 19 },
    freshness: { last_committed_at: null, age_s: 240, usual_interval_s: 1200 },
    jobs: [],
    first_seen_at: null,
    gone_at: null,
    renamed_to: null,
    watermark: null,
    hints: [],
    owner: null,
    ...more,
  };
}

const panel = (more: object = {}) => ({
  snapshotId: null,
  detail: undefined,
  problem: undefined,
  pending: false,
  commits: commitsOf(story()),
  hrefOf: (id: string) => `?c=${id}`,
  pageHref: null,
  onopen: () => undefined,
  onclose: () => undefined,
  onretry: () => undefined,
  ...more,
});

test('the facts line says the reason with its number and leads to its moment', async () => {
  const moments: number[] = [];
  const screen = await render(TableFacts, { detail: detail(), onmoment: (at: number) => moments.push(at) });
  await expect.element(screen.getByText('50,000 files in one append at 03:04.')).toBeVisible();
  await expect.element(screen.getByText('98 %')).toBeVisible();
  await screen.getByRole('button', { name: /Show/ }).click();
  expect(moments).toEqual([BURST]);
  expect(await axeFindings()).toEqual([]);
});

test('numbers that are not known are said, never zero', async () => {
  const unknown = { ...blank, data_files: null, small_files: null, delete_files: null };
  const freshness = { last_committed_at: null, age_s: null, usual_interval_s: null };
  await render(TableFacts, { detail: detail({ values: unknown, freshness }), onmoment: () => undefined });
  const numbers = [...document.querySelectorAll('dd.num')].map((each) => each.textContent);
  expect(numbers).toEqual(['not read', 'not read', 'not read', 'not read']);
});

test('a hint is one line whose snippet unfolds', async () => {
  const snippet = '[prometheus.main]\nurl = "http://127.0.0.1:9090"';
  const screen = await render(HintLine, {
    hint: { code: 'no_prometheus', title: 'No Prometheus is configured', detail: 'Add it.', snippet },
  });
  await expect.element(screen.getByText(/prometheus\.main/)).not.toBeVisible();
  await screen.getByText(/Add it/).click();
  await expect.element(screen.getByText(/prometheus\.main/)).toBeVisible();
  await expect.element(screen.getByRole('button', { name: /^Copy Snippet/ })).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('without an open commit the panel offers the largest in range, largest first', async () => {
  const opened: string[] = [];
  const screen = await render(CommitPanel, panel({ onopen: (id: string) => opened.push(id) }));
  const first = screen.getByRole('listitem').first().getByRole('button');
  await expect.element(first).toMatchTextContent(/\+50,000/);
  await first.click();
  expect(opened).toEqual([BURST_ID]);
  expect(await axeFindings()).toEqual([]);
});

test('a commit that cannot be fetched says why beside Retry', async () => {
  let retries = 0;
  const problem = new ApiProblem('not-found', 404, 'No such commit', 'It was expired before it was read.');
  const screen = await render(
    CommitPanel,
    panel({ snapshotId: BURST_ID, problem, pageHref: '/x', onretry: () => (retries += 1) }),
  );
  await expect.element(screen.getByText(/It was expired before it was read/)).toBeVisible();
  await screen.getByRole('button', { name: 'Retry' }).click();
  expect(retries).toBe(1);
});

test('paper has the table, the range with its zone, the address and each commit; the screen has not', async () => {
  const answer = story();
  const link = 'https://here/t/lake/sales/customer_events?from=1&to=2';
  const screen = await render(PrintedSheet, { name: 'lake.sales.<b>x</b>', answer, link, part: 'head' });
  const sheet = document.querySelector('.printed') as HTMLElement;
  await expect.element(screen.getByText(link)).not.toBeVisible();
  expect(sheet.textContent).toContain('lake.sales.<b>x</b>, 21 Nov 2026');
  expect(sheet.textContent).toContain('all times are UTC');
  expect(sheet.textContent).toContain(link);
  await screen.rerender({ part: 'commits' });
  expect(sheet.textContent).toContain(BURST_ID);
  const inside = commitsOf(answer).filter(({ t }) => t >= answer.range.from && t < answer.range.to);
  expect(sheet.querySelectorAll('tbody tr')).toHaveLength(inside.length);
});

test('lanes are hidden, moved and put on another axis by keyboard, and reset to default', async () => {
  const view = new TimelineView();
  const screen = await render(LaneChoice, { view });
  await expect.element(screen.getByRole('checkbox', { name: 'Alerts' })).toHaveFocus();
  await screen.getByRole('checkbox', { name: 'Schema, spec' }).click();
  expect(view.lanes).not.toContain('schema');
  const down = screen.getByRole('button', { name: 'Move down: Alerts' });
  await down.click();
  expect(view.lanes?.slice(0, 2)).toEqual(['job_duration', 'alerts']);
  await expect.element(down).toHaveFocus();
  await screen.getByRole('button', { name: 'Move up: Alerts' }).click();
  // at the top it is out of use: the focus stays in the row
  await expect.element(down).toHaveFocus();
  await screen.getByRole('button', { name: 'log axis: Data files' }).click();
  expect(view.log).toEqual(['data_files', 'file_size']);
  expect(await axeFindings()).toEqual([]);
  await screen.getByRole('button', { name: /default/ }).click();
  expect([view.lanes, view.log]).toEqual([null, null]);
});

function actions(id: string, more: object = {}) {
  const answer = story();
  const lane = answer.lanes.find((each) => each.id === id) as Lane;
  const view = new TimelineView();
  const told = { closed: 0, tabulated: 0 };
  const props = {
    ...{ lane: { ...lane, ...more }, answer, view },
    ...{ close: () => (told.closed += 1), ontabulate: () => (told.tabulated += 1) },
  };
  return { told, view, props };
}

test("a lane's menu moves it to the top, hides it, changes its axis, shows it as a table", async () => {
  const { told, view, props } = actions('freshness');
  const screen = await render(LaneActions, props);
  await expect.element(screen.getByRole('button', { name: 'Move to top' })).toHaveFocus();
  expect(await axeFindings()).toEqual([]);
  await screen.getByRole('button', { name: 'Logarithmic axis' }).click();
  expect(view.log).toEqual(['file_size', 'freshness']);
  await screen.getByRole('button', { name: 'Move to top' }).click();
  expect([view.lanes?.[0], told.closed]).toEqual(['freshness', 1]);
  await screen.getByRole('button', { name: 'View as table' }).click();
  expect(told).toEqual({ closed: 2, tabulated: 1 });
  await screen.getByRole('button', { name: 'Hide' }).click();
  expect(view.lanes).not.toContain('freshness');
});

test('it copies queries and results, and links to Prometheus only where its address is known', async () => {
  const asked = { promql: 'max(up)', sql: null };
  const known = actions('job_duration', { query: { ...asked, prometheus: 'https://metrics.example' } });
  const screen = await render(LaneActions, known.props);
  const link = screen.getByRole('link', { name: 'Open in Prometheus' });
  await expect
    .element(link)
    .toHaveAttribute(
      'href',
      expect.stringMatching(/^https:\/\/metrics\.example\/graph\?g0\.expr=max%28up%29/),
    );
  await expect.element(link).toHaveAttribute('rel', 'noopener noreferrer');
  await expect.element(screen.getByRole('button', { name: 'Copy Job duration as PromQL' })).toBeVisible();
  await expect.element(screen.getByRole('button', { name: 'Copy Job duration as CSV' })).toBeVisible();
  await expect.element(screen.getByRole('button', { name: /as SQL/ })).not.toBeInTheDocument();
  await screen.rerender(actions('job_duration', { query: { ...asked, prometheus: null } }).props);
  await expect.element(link).not.toBeInTheDocument();
});

test('a lane whose source failed has no numbers to take away', async () => {
  const { props } = actions('data_files', { status: 'error' });
  const screen = await render(LaneActions, props);
  await expect.element(screen.getByRole('button', { name: 'Hide' })).toBeVisible();
  await expect.element(screen.getByRole('button', { name: /CSV|table/ })).not.toBeInTheDocument();
});

test('a dropped table says since when, a renamed one leads to its new name', async () => {
  const gone_at = BURST;
  const dropped = await render(TableState, { detail: detail({ status: 'dropped', gone_at }) });
  await expect
    .element(dropped.getByRole('group', { name: 'Table dropped' }))
    .toHaveTextContent(`Dropped ${instant(BURST)}. Values are the last ones read.`);
  await dropped.unmount();
  const renamed_to = { catalog: 'lake', namespace: 'sales', table: 'events', path: '/t/lake/sales/events' };
  const renamed = await render(TableState, { detail: detail({ status: 'renamed', gone_at, renamed_to }) });
  const link = renamed.getByRole('link', { name: 'lake.sales.events' });
  await expect.element(link).toHaveAttribute('href', '/t/lake/sales/events');
});
