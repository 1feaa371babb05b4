import '../../app.css';
import { expect, onTestFinished, test } from 'vitest';
import { NotesView } from '#lib/notes/NotesView.svelte.ts';
import { render } from 'vitest-browser-svelte';
import { axeFindings } from '../../test/axe.ts';
import EffectsTable from '#lib/findings/page/EffectsTable.svelte';
import EvidenceList from '#lib/findings/page/EvidenceList.svelte';
import FindingHead from '#lib/findings/page/FindingHead.svelte';
import FindingList from '#lib/findings/list/FindingList.svelte';
import { effect, finding, NOW, recovered, silent, SNAPSHOT } from './fixtures.ts';
import NoFindings from '#lib/findings/list/NoFindings.svelte';
import { choiceOf } from '#lib/findings/list/question.ts';
import TableFindings from './TableFindings.svelte';

const TABLE = { catalog: 'lake', namespace: 'sales', table: 'orders' };
const MARKUP = '<img src=x onerror=alert(1)>';

test('a row is a group with links to the finding, its table, its commit and the moment', async () => {
  const screen = await render(FindingList, { rows: [finding(), recovered()], label: 'Open', now: NOW });
  const row = screen.getByRole('group', { name: 'Critical: Data files rose from 120 to 1,620 at once' });
  await expect
    .element(row.getByRole('link', { name: /^demo_burst added/ }))
    .toHaveAttribute('href', `/t/lake/sales/orders/commits/${SNAPSHOT}`);
  await expect.element(row.getByRole('link', { name: 'sales.orders', exact: true })).toBeVisible();
  expect(
    row
      .getByRole('link', { name: /^Timeline/ })
      .element()
      .getAttribute('href'),
  ).toContain(`c=${SNAPSHOT}`);
  await expect.element(screen.getByRole('group', { name: /^Recovered/ })).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('a table has its worst finding in full, the others as chips, and what recovered', async () => {
  const other = finding({ finding_id: '1', code: 'stale', group: 'health', severity: 'warning' });
  const screen = await render(TableFindings, {
    ...{ findings: [finding({ effects: [silent()] }), other, recovered()], table: TABLE, now: NOW },
  });
  await expect
    .element(screen.getByText('No run of churn has ended since; the last one ended at 02:01 UTC.'))
    .toBeVisible();
  await expect
    .element(screen.getByRole('link', { name: 'Warning stale' }))
    .toHaveAttribute('href', '/findings/1');
  await expect.element(screen.getByText(/^Recovered at 05:30 UTC by snapshot/)).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('a table with nothing but recovered findings shows no open one', async () => {
  const screen = await render(TableFindings, { findings: [recovered()], table: TABLE, now: NOW });
  await expect.element(screen.getByRole('list', { name: 'Recent findings' })).toBeVisible();
  expect(screen.getByRole('link', { name: 'Show on the timeline' }).elements()).toEqual([]);
});

test('an unknown ratio is unknown, and no data yet says when the last run ended', async () => {
  const screen = await render(EffectsTable, {
    finding: finding({ effects: [effect(), silent()] }),
    now: NOW,
  });
  await expect.element(screen.getByText('3.1× (2.6 to 3.7)')).toBeVisible();
  await expect.element(screen.getByText('+108 s')).toBeVisible();
  expect(screen.getByText('unknown').elements()).toHaveLength(2);
  await expect.element(screen.getByText(/the last one ended at 02:01 UTC\.$/)).toBeVisible();
});

test('an all-clear waits until all tables are evaluated', async () => {
  const answer = {
    ...{ rows: [], total: 0, counts: { critical: 0, warning: 0, info: 0 }, notes: [], next_cursor: null },
    not_evaluated: 2,
    acknowledged: 0,
  };
  const choice = choiceOf(new URLSearchParams());
  const screen = await render(NoFindings, { answer, choice, clearHref: '/findings' });
  await expect.element(screen.getByText('2 tables are still being read.')).toBeVisible();
  expect(document.body.textContent).not.toContain('Nothing is wrong');
  await screen.rerender({ answer: { ...answer, not_evaluated: 0 }, choice, clearHref: '/findings' });
  await expect.element(screen.getByText('Nothing is wrong with any table')).toBeVisible();
});

test('a name of the lake stays text', async () => {
  let notes!: NotesView;
  onTestFinished($effect.root(() => void (notes = new NotesView(() => []))));
  const hostile = finding({
    ...{
      table: MARKUP,
      subject: MARKUP,
      code: 'schema_breaking',
      evidence: { what: MARKUP, [MARKUP]: MARKUP },
    },
    cause: { snapshot_ids: [MARKUP], writer: MARKUP, share: null },
    effects: [effect({ job_name: MARKUP, because: MARKUP, verdict: 'unknown' })],
  });
  await render(FindingHead, {
    finding: hostile,
    notes,
    now: NOW,
    link: 'https://x/',
    onchange: () => undefined,
  });
  await render(EvidenceList, { finding: hostile });
  await render(FindingList, { rows: [hostile], label: 'Open', now: NOW });
  expect(document.querySelector('img')).toBeNull();
  expect(document.body.textContent).toContain(MARKUP);
});
