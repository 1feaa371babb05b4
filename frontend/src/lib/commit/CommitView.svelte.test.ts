import '../../app.css';
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import type { Schemas } from '#lib/api/client.ts';
import { collision } from '#lib/contention/fixtures.ts';
import { axeFindings } from '../../test/axe.ts';
import CommitsTable from './CommitsTable.svelte';
import CommitView from './CommitView.svelte';
import { commitDetail, commitRow, SNAPSHOT } from './fixtures.ts';

const hrefOf = (id: string) => `/t/lake/sales/customer_events?c=${id}`;

test('a commit shows all 19 digits, the change, the writer and the effect on runs', async () => {
  const screen = await render(CommitView, { detail: commitDetail(), hrefOf });
  await expect.element(screen.getByText(SNAPSHOT)).toBeVisible();
  await expect.element(screen.getByRole('row', { name: /Data files 1,202 51,202 \+50,000/ })).toBeVisible();
  await expect
    .element(screen.getByText('churn takes 3.1 times as long since the commit (3 to 3.1 times)'))
    .toBeVisible();
  await expect.element(screen.getByText(/\+108 s \(\+106 s to \+110 s\); median 52 s before/)).toBeVisible();
  await expect.element(screen.getByText('m.okafor')).toBeVisible();
  await expect.element(screen.getByRole('img', { name: /50,000 files 512 KiB to 1 MiB/ })).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('where there is no verdict, bounds and the reason are shown and nothing is claimed', async () => {
  const [effect] = commitDetail().effects;
  if (!effect) throw new Error('the fixture has an effect');
  const bounds = { ratio: 0.97, ratio_low: 0.88, ratio_high: 1.09, more_runs: 9 };
  const effects = [
    { ...effect, ...bounds, job: 'a', verdict: 'unknown' as const, because: 'between -12 % and +9 %' },
    { ...effect, ratio: null, job: 'b', verdict: 'confounded' as const, because: 'another overwrite' },
    { ...effect, job: 'c', runs_after: 0, verdict: 'unknown' as const, because: '0 runs after' },
  ];
  const screen = await render(CommitView, { detail: commitDetail({ effects }), hrefOf });
  const unknown = 'a: not known yet, between −12 % and +9 %; 9 more runs would probably show it';
  await expect.element(screen.getByText(unknown)).toBeVisible();
  await expect.element(screen.getByText('b: confounded by another change, another overwrite')).toBeVisible();
  await expect.element(screen.getByText(/^c: not known yet, no run started after the commit/)).toBeVisible();
  expect(document.body.textContent).not.toMatch(/median|108 s|faster|slower|as long/);
});

test('neighbours are links to where the caller shows them; a missing one is said', async () => {
  const screen = await render(CommitView, { detail: commitDetail(), hrefOf, narrow: true });
  const previous = screen.getByRole('link', { name: /Previous/ });
  await expect.element(previous).toHaveAttribute('href', hrefOf('378142004021992640'));
  await expect.element(screen.getByText('Latest commit')).toBeVisible();
  await expect.element(screen.getByText('50,000 files of 0.9 MB in one append')).toBeVisible();
});

test('what was not read is said, never drawn as zero', async () => {
  const nothing = { before: null, after: null, edges: [8192] };
  const detail = commitDetail({
    shape: nothing,
    partitions: [],
    partitions_changed: null,
    effects: [],
    diff: [],
  });
  const screen = await render(CommitView, { detail, hrefOf });
  await expect.element(screen.getByText('File sizes were not read.')).toBeVisible();
  await expect.element(screen.getByText('Partitions were not read.')).toBeVisible();
  await expect.element(screen.getByText(/^No run of a linked job within 6 h/)).toBeVisible();
});

test('the run that wrote the commit is shown with the origin of its columns', async () => {
  const column = { from_table: 'wh/sales/raw', table: null, transformation: null, masked: null };
  const run = {
    run_id: '0190f3b4-0000-7000-8000-000000000001',
    job: 'load',
    status: 'ok',
    started_at: null,
    ended_at: 1_795_230_600_000,
    parent_run_id: null,
    ref: 'audit',
    read_bytes: 1_250_000_000,
    columns: [
      { ...column, column: 'mail', from_column: '<b>mail</b>', transformation: 'DIRECT/HASH', masked: true },
      { ...column, column: 'id', from_column: 'id' },
    ],
    columns_total: 2,
    masked_columns: 1,
  };
  const screen = await render(CommitView, { detail: commitDetail({ written_by_run: run }), hrefOf });
  await expect.element(screen.getByText(run.run_id)).toBeVisible();
  await expect.element(screen.getByText('not reported')).toBeVisible();
  await expect.element(screen.getByText('1.3 GB')).toBeVisible();
  await screen.getByText('Where 2 columns come from, 1 masked').click();
  await expect.element(screen.getByText('<b>mail</b>')).toBeVisible();
  await expect.element(screen.getByText('DIRECT/HASH')).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('the stream of a commit is named with its epoch, and missing epochs are said with the commit before', async () => {
  const stream: Schemas['StreamEpoch'] = {
    engine: 'spark',
    query_id: '6f1c0f4e-1111-4222-8333-944445555666',
    number: 41,
    order: 'gap',
    missing_first: 39,
    missing_last: 40,
    earlier: { snapshot_id: '42', query_id: '6f1c0f4e-1111-4222-8333-944445555666', number: 38 },
  };
  const screen = await render(CommitView, { detail: commitDetail({ stream }), hrefOf });
  await expect.element(screen.getByText(/^Epoch 41 of Spark query 6f1c0f4e/)).toBeVisible();
  await expect.element(screen.getByText(/^Epochs 39 to 40 have no commit on main/)).toBeVisible();
  await expect
    .element(screen.getByRole('link', { name: 'Previous commit of this stream' }))
    .toHaveAttribute('href', hrefOf('42'));
  expect(await axeFindings()).toEqual([]);
});

test('attempts name the commit that came first and the writer that was refused', async () => {
  const attempts = {
    ...{ writer: 'etl', kind: 'append', streaming: false, attempts: 4, retries: 3, seconds: 30 },
    lost_to: [
      collision({ winner: 'compaction', winner_kind: 'replace', winner_streaming: null, snapshot_id: '42' }),
    ],
    won_over: [collision({ loser: 'merge', refused: 1 })],
  };
  const screen = await render(CommitView, { detail: commitDetail({ attempts }), hrefOf });
  await expect.element(screen.getByText(/^4, 30 s in all/)).toBeVisible();
  await expect.element(screen.getByText(/Retried because of\s+compaction \(replace\)/)).toBeVisible();
  await expect.element(screen.getByRole('link', { name: '42', exact: true })).toBeVisible();
  await expect
    .element(screen.getByText(/merge \(row delta\)\s+was refused once: it added files/))
    .toBeVisible();
  expect(await axeFindings()).toEqual([]);
  const unknown = { ...attempts, attempts: null, seconds: null, lost_to: [], won_over: [] };
  await screen.rerender({ detail: commitDetail({ attempts: unknown }), hrefOf });
  await expect.element(screen.getByText('unknown', { exact: true })).toBeVisible();
});

test('refs that point at the commit are named, and that none does is said', async () => {
  const screen = await render(CommitView, { detail: commitDetail({ refs: ['main', 'audit'] }), hrefOf });
  await expect.element(screen.getByText(/Refs:\s+main, audit/)).toBeVisible();
  await screen.rerender({ detail: commitDetail({ refs: [] }), hrefOf });
  await expect.element(screen.getByText(/Refs:\s+none/)).toBeVisible();
});

test('damage and disagreement are named', async () => {
  const detail = commitDetail({ problems: ['manifest_missing'], summary_mismatch: ['total-records'] });
  const screen = await render(CommitView, { detail, hrefOf });
  await expect.element(screen.getByText(/Read in part: manifest_missing/)).toBeVisible();
  await screen.getByText(/Snapshot summary/).click();
  await expect.element(screen.getByText(/manifests differ in: total-records/)).toBeVisible();
});

test('text of the observed table stays text', async () => {
  const detail = commitDetail({ summary: { '<img src=x onerror=alert(1)>': '<b>bold</b>' } });
  const screen = await render(CommitView, { detail, hrefOf });
  await screen.getByText(/Snapshot summary/).click();
  await expect.element(screen.getByText('<b>bold</b>')).toBeVisible();
  expect(document.querySelector('img')).toBeNull();
});

test('a panel of 340 px needs no sideways scroll', async () => {
  await page.viewport(340, 800);
  await render(CommitView, { detail: commitDetail(), hrefOf, narrow: true });
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(340);
  await page.viewport(1280, 800);
});

test('the list of commits links each id and marks what is not on main', async () => {
  const rows = [
    commitRow(),
    commitRow({ snapshot_id: '7', on_main: false, operation: null, added_bytes: null }),
  ];
  const screen = await render(CommitsTable, { rows });
  const link = screen.getByRole('link', { name: SNAPSHOT });
  await expect.element(link).toHaveAttribute('href', `/t/lake/sales/customer_events/commits/${SNAPSHOT}`);
  await expect.element(screen.getByText('not on main')).toBeVisible();
  await expect.element(screen.getByRole('row', { name: /Operation not read.*not read/ })).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});
