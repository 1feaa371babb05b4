import '../../app.css';
import { expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings } from '../../test/axe.ts';
import { EACH, ledgerPage, ledgerRow, SNAPSHOT } from './fixtures.ts';
import HowToRead from './HowToRead.svelte';
import LedgerFilters from './LedgerFilters.svelte';
import LedgerList from './LedgerList.svelte';
import { ANY, type LedgerChoice } from './question.ts';
import SelfCheck from './SelfCheck.svelte';
import TableEffects from './TableEffects.svelte';
import { TableEffectsView } from './TableEffectsView.svelte.ts';
import VerdictBar from './VerdictBar.svelte';
import { spokenRow } from './words.ts';

const LABEL = 'Effects, newest operation first';
const TABLE = { catalog: 'lake', namespace: 'sales', table: 'orders' };

test('each row is a group that reads as a sentence, with links to its commit and its table', async () => {
  const screen = await render(LedgerList, { rows: EACH, label: LABEL });
  for (const row of EACH)
    await expect.element(screen.getByRole('group', { name: spokenRow(row) })).toBeVisible();
  const first = screen.getByRole('group', { name: spokenRow(ledgerRow()) });
  await expect.element(first.getByText('14 % faster')).toBeVisible();
  await expect.element(first.getByText(/−14 s \(−19 s to −8 s\).*96 runs before, 24 after/)).toBeVisible();
  await expect
    .element(first.getByRole('link', { name: 'Compaction' }))
    .toHaveAttribute('href', `/t/lake/sales/orders/commits/${SNAPSHOT}`);
  await expect
    .element(first.getByRole('link', { name: 'sales.orders' }))
    .toHaveAttribute('href', '/t/lake/sales/orders');
  expect(await axeFindings()).toEqual([]);
});

test('without a verdict no point is drawn, and the row shows why', async () => {
  const screen = await render(LedgerList, { rows: EACH, label: LABEL });
  await expect.element(screen.getByText('3 of 8 runs so far')).toBeVisible();
  await expect.element(screen.getByText('the controls disagree about that time')).toBeVisible();
  await expect.element(screen.getByRole('link', { name: '378142004021992640' })).toBeVisible();
  const drawn = (selector: string) =>
    [...document.querySelectorAll('li')].map((row) => row.querySelectorAll(selector).length);
  expect(drawn('.point')).toEqual([1, 1, 1, 0, 0, 0, 0]);
  expect(drawn('.range')).toEqual([1, 1, 1, 1, 0, 0, 0]);
});

test('an interval beyond the axis has an arrow, and its point is at the end', async () => {
  const rows = [
    ledgerRow({ ratio: 0.02, ratio_low: 0.015, ratio_high: 0.03 }),
    ledgerRow({ job_name: 'b', ratio: 0.7, ratio_low: null }),
  ];
  const screen = await render(LedgerList, { rows, label: LABEL });
  await expect.element(screen.getByText('98 % faster')).toBeVisible();
  await expect.element(screen.getByText('at least 8 %')).toBeVisible();
  const ends = [...document.querySelectorAll('li')].map((row) =>
    [...row.querySelectorAll('.end')].map((end) => end.getAttribute('d')?.startsWith('M6') ?? false),
  );
  expect(ends).toEqual([[], [true, false]]);
});

test('Up and Down move between rows', async () => {
  const screen = await render(LedgerList, { rows: EACH, label: LABEL });
  const links = screen.getByRole('link', { name: 'sales.orders' });
  (links.nth(0).element() as HTMLElement).focus();
  await userEvent.keyboard('{ArrowDown}');
  await expect.element(links.nth(1)).toHaveFocus();
  await userEvent.keyboard('{End}{ArrowUp}');
  await expect.element(links.nth(EACH.length - 2)).toHaveFocus();
  await userEvent.keyboard('{Home}');
  await expect.element(links.nth(0)).toHaveFocus();
});

test('a name and a reason of the lake stay text', async () => {
  const markup = '<img src=x onerror=alert(1)>';
  const hostile = { table: markup, job_name: markup, writer: markup, owner: markup, action: markup };
  const rows = [ledgerRow({ ...hostile, verdict: 'confounded', because: markup })];
  await render(LedgerList, { rows, label: LABEL });
  expect(document.querySelector('img')).toBeNull();
  expect(document.body.textContent).toContain(markup);
});

test('a panel of 340 px needs no sideways scroll', async () => {
  await page.viewport(340, 800);
  const rows = [ledgerRow({ table: 'a_very_long_name_'.repeat(9), job_name: 'x'.repeat(120) }), ...EACH];
  await render(LedgerList, { rows, label: LABEL });
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(340);
  await page.viewport(1280, 800);
});

test('counts of verdicts are the filter by verdict; the chosen one leads back', async () => {
  const { counts } = ledgerPage([...EACH]);
  const hrefOf = (verdict: string) => `?verdict=${verdict}`;
  const screen = await render(VerdictBar, { counts, chosen: 'worse', hrefOf });
  await expect
    .element(screen.getByRole('link', { name: 'helped 1' }))
    .toHaveAttribute('href', '?verdict=helped');
  const chosen = screen.getByRole('link', { name: 'worse 1' });
  await expect.element(chosen).toHaveAttribute('aria-current', 'true');
  await expect.element(chosen).toHaveAttribute('href', '?verdict=');
  await expect.element(screen.getByRole('link', { name: 'no data yet 1' })).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('the self-check is one number, with a warning where bounds are too narrow, and none without cuts', async () => {
  const screen = await render(SelfCheck, { coverage: { cuts: 210, covered: 202 } });
  const check = screen.getByRole('region', { name: 'Self-check' });
  await expect
    .element(check)
    .toMatchTextContent(
      /Bounds covered no change at 96 % of 210 cuts in histories where nothing was done; 95 % is nominal\./,
    );
  await screen.rerender({ coverage: { cuts: 100, covered: 80 } });
  await expect.element(check).toMatchTextContent(/80 %.*The bounds are too narrow here\./);
  await screen.rerender({ coverage: { cuts: 0, covered: 0 } });
  await expect.element(check).toMatchTextContent(/^Not checked yet\./);
  expect(check.element().textContent).not.toContain('%');
});

test('filters offer what has rows, and one that is chosen can be taken away', async () => {
  const changes: Partial<LedgerChoice>[] = [];
  const screen = await render(LedgerFilters, {
    choices: ledgerPage([]).choices,
    choice: { ...ANY, owner: 'gone' },
    onchange: (change: Partial<LedgerChoice>) => changes.push(change),
  });
  await expect.element(screen.getByRole('combobox', { name: 'Action: any' })).not.toBeInTheDocument();
  await screen.getByRole('combobox', { name: 'Owner: gone' }).click();
  await screen.getByRole('option', { name: 'any' }).click();
  await screen.getByRole('combobox', { name: 'Measure: any' }).click();
  await screen.getByRole('option', { name: 'files opened' }).click();
  expect(changes).toEqual([{ owner: '' }, { measure: 'files' }]);
});

test('every verdict is explained', async () => {
  const screen = await render(HowToRead);
  await screen.getByText('What is claimed, and what is not').click();
  await expect.element(screen.getByText(/It is not proof of a cause/)).toBeVisible();
  await expect.element(screen.getByRole('term').filter({ hasText: 'not separable' })).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test("a table's section lists its newest effects without its name, or says that there are none", async () => {
  const view = new TableEffectsView();
  view.newest.take(ledgerPage([ledgerRow()]));
  const screen = await render(TableEffects, { view, table: TABLE, onretry: () => undefined });
  await expect.element(screen.getByText('14 % faster')).toBeVisible();
  await expect
    .element(screen.getByRole('link', { name: 'sales.orders', exact: true }))
    .not.toBeInTheDocument();
  await expect
    .element(screen.getByRole('link', { name: 'Ledger of sales.orders' }))
    .toHaveAttribute('href', '/maintenance/ledger?table=lake.sales.orders');
  expect(await axeFindings()).toEqual([]);
  view.newest.take({ ...ledgerPage([]), notes: ['Prometheus is not responding.'] });
  await expect.element(screen.getByText(/^No compaction, other rewrite or snapshot expiry/)).toBeVisible();
  await expect.element(screen.getByText('Prometheus is not responding.')).toBeVisible();
});
