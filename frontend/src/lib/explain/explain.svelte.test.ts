import '../../app.css';
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import type { Label, Page } from './case.ts';
import { statusFeed } from '#lib/live/StatusFeed.svelte.ts';
import ExplainPanel from './ExplainPanel.svelte';
import { ExplainView } from './ExplainView.svelte.ts';
import { AT, BURST, competing, explainPage, label, quiet } from './fixtures.ts';

/** The sentence that stands first. */
const said = (text: RegExp) =>
  expect.poll(() => document.querySelector('.verdict')?.textContent).toMatch(text);
const WINDOW = { from: AT - 3_600_000, to: AT + 3_600_000 };

async function shown(
  answer: Page,
  given: {
    shown?: typeof WINDOW;
    onexplain?: () => void;
    onlane?: (lane: string) => void;
    brief?: boolean;
  } = {},
) {
  const words: Label['kind'][] = [];
  const view = new ExplainView({
    ask: () => Promise.resolve(answer),
    say: ({ kind, snapshot_id }) => {
      words.push(kind);
      return Promise.resolve(label({ kind, snapshot_id }));
    },
  });
  await view.explain(WINDOW);
  const screen = await render(ExplainPanel, { view, link: () => 'https://here/t', ...given });
  return { view, words, screen };
}

test('verdict, confidence, grade, evidence for and against, past commits, differences; nothing for axe', async () => {
  const { screen } = await shown(explainPage());
  await said(/^Most likely: 50,000 files/);
  await screen.getByText('How it was ranked').click();
  for (const text of [
    /strong/,
    /declared/,
    /typically 2 for this table/,
    /At the same time other jobs changed/,
    /3 other appends/,
  ])
    await expect.element(screen.getByText(text).first()).toBeVisible();
  await expect.element(screen.getByText('Files added per commit')).toBeVisible();
  await expect
    .element(screen.getByRole('link', { name: 'Open commit', exact: true }))
    .toHaveAttribute('href', `/t/lake/sales/customer_events/commits/${BURST}`);
  expect([await axeFindings(), doubleIds()]).toEqual([[], []]);
});

test('a custom baseline is typed; an invalid time or range is rejected without a request', async () => {
  const asked: unknown[] = [];
  const view = new ExplainView({
    ask: (question) => {
      asked.push([question.baseline, question.baseline_from, question.baseline_to]);
      return Promise.resolve(explainPage());
    },
    say: () => Promise.reject(new Error('not asked')),
  });
  await view.explain(WINDOW);
  const screen = await render(ExplainPanel, { view, link: () => 'https://here/t' });
  await screen.getByRole('combobox', { name: /^Baseline/ }).click();
  await screen.getByRole('option', { name: 'custom range' }).click();
  const compare = screen.getByRole('button', { name: 'Compare' });
  await screen.getByLabelText('Baseline from').fill('soon');
  await compare.click();
  await expect.element(screen.getByText(/Enter both times as/)).toBeVisible();
  await screen.getByLabelText('Baseline from').fill('2026-11-20 03:00');
  await screen.getByLabelText('to', { exact: true }).fill('2026-11-20 02:00');
  await compare.click();
  await expect.element(screen.getByText(/must be after/)).toBeVisible();
  expect(await axeFindings()).toEqual([]);
  await screen.getByLabelText('to', { exact: true }).fill('2026-11-20 05:00');
  await compare.click();
  const [from, to] = ['03', '05'].map((hour) => Date.parse(`2026-11-20T${hour}:00:00Z`));
  await expect
    .poll(() => asked)
    .toEqual([
      [undefined, undefined, undefined],
      ['custom', from, to],
    ]);
});

test('what is not in the first glance is unfolded; what can be copied', async () => {
  const { screen } = await shown(explainPage(), { brief: true });
  expect(document.querySelectorAll('.rows .row').length).toBe(1);
  await expect.element(screen.getByText('Files added per commit')).not.toBeInTheDocument();
  await screen.getByRole('button', { name: /^Evidence and other/ }).click();
  await expect.element(screen.getByText('Files added per commit')).toBeVisible();
  await expect.element(screen.getByText(/16 other jobs compared/)).toBeVisible();
  const copies = screen.getByRole('group', { name: 'Copy' }).getByRole('button');
  expect(copies.elements().map((each) => each.getAttribute('aria-label'))).toEqual([
    'Copy Explanation as Markdown',
    'Copy PromQL of the runs',
    'Copy SQL of the commits',
    'Copy Answer as JSON',
    'Copy Link to this explanation',
  ]);
});

test('signals that changed are offered as lanes, unless they are shown', async () => {
  const page = explainPage();
  const used = { moved: 1, ratio: 3, before: 0.3, after: 0.9, unit: 'cores', at: AT - 3 * 60_000 };
  page.around[0]!.competing.push(competing('cpu', used));
  const chosen: string[] = [];
  const { screen } = await shown(page, { onlane: (lane: string) => chosen.push(lane) });
  await expect.element(screen.getByText(/CPU went from 0.30 cores to 0.90 cores/)).toBeVisible();
  await screen.getByRole('button', { name: 'Show CPU' }).click();
  expect(chosen).toEqual(['cpu']);
  expect(await axeFindings()).toEqual([]);
  await screen.rerender({ lanes: ['cpu'] });
  await expect.element(screen.getByRole('button', { name: 'Show CPU' })).not.toBeInTheDocument();
  await expect.element(screen.getByText(/CPU went from/)).toBeVisible();
});

test('confirm by keyboard, then undo: what was said before counts again', async () => {
  const { screen, words } = await shown(explainPage());
  const confirm = screen.getByRole('button', { name: 'Confirm' });
  (confirm.element() as HTMLElement).focus();
  (confirm.element() as HTMLElement).click();
  await said(/^Caused by 50,000 files/);
  await expect.element(confirm).toHaveAttribute('aria-pressed', 'true');
  expect(document.activeElement).toBe(confirm.element());
  await screen.getByRole('button', { name: 'Undo' }).click();
  await said(/^Most likely/);
  await screen.getByRole('button', { name: 'Rule out' }).click();
  await said(/^No commit explains/);
  expect(words).toEqual(['confirmed', 'withdrawn', 'rejected']);
});

test('without the annotate scope there are no buttons but a reason', async () => {
  const status = {
    version: '1',
    now: AT,
    watermark: AT,
    lag_s: null,
    run_id: null,
    tables: 1,
    unreadable: 0,
    snapshots: 1,
  };
  const rest = {
    user: null,
    ...{ jobs: 0, firing: 0, open_findings: 0 },
    hourly_days: 400,
    hot: { bytes: 1, rows: 1, tables_shortened: 0 },
    sources: [],
    hints: [],
  };
  statusFeed.resource.take({ ...status, ...rest, scopes: ['read'] });
  const { screen } = await shown(explainPage());
  await expect.element(screen.getByText(/requires the annotate scope/).first()).toBeInTheDocument();
  await expect.element(screen.getByRole('button', { name: 'Confirm' })).not.toBeInTheDocument();
  statusFeed.resource.take({ ...status, ...rest, scopes: ['annotate', 'read'] });
  await expect.element(screen.getByRole('button', { name: 'Confirm' }).first()).toBeInTheDocument();
  statusFeed.resource.clear();
});

test('a word said earlier is shown when it is opened again', async () => {
  const { screen } = await shown(explainPage({ labels: [label()] }));
  await said(/^Caused by 50,000 files/);
  await expect.element(screen.getByText(/Confirmed by ada/)).toBeVisible();
});

test('states: no job, too little, slow all along, behind, stale', async () => {
  const none = await shown(
    quiet('No job is known for this table: add one.', { tables: [], runs: 0, job: null }),
  );
  await expect.element(none.screen.getByText(/A job is linked by/)).toBeVisible();
  await none.screen.unmount();
  const little = await shown(quiet('Not enough data: 6 runs.', { runs: 6 }));
  await expect.element(little.screen.getByText(/Too few runs/)).toBeVisible();
  await little.screen.unmount();
  const { from, to } = explainPage();
  const plateau = quiet('No change stands out.', {
    selected: { from, to, runs: 20, median_seconds: 156 },
    watermark: to - 3_600_000,
  });
  let asked = 0;
  const slow = await shown(plateau, { shown: { from: 0, to: 5 }, onexplain: () => (asked += 1) });
  await expect.element(slow.screen.getByText(/slower than the baseline: 156 s vs 52 s/)).toBeVisible();
  await expect.element(slow.screen.getByText(/Metadata is read up to 05:00:00/)).toBeVisible();
  await slow.screen.getByRole('button', { name: 'Explain this range' }).click();
  expect(asked).toBe(1);
  expect(await axeFindings()).toEqual([]);
});

test('names that are markup stay text, and 320 px need no sideways scroll', async () => {
  await page.viewport(320, 800);
  const answer = explainPage({ job: '<img src=x onerror=alert(1)>'.repeat(3) });
  answer.suspects[0]!.app_name = '<img src=x>';
  const { screen } = await shown(answer);
  expect(document.querySelector('.explain img')).toBeNull();
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(320);
  await screen.unmount();
  await shown(answer, { brief: true });
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(320);
  await page.viewport(1280, 800);
});
