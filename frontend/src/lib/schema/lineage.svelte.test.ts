import '../../app.css';
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { commitPath } from '#lib/api/names.ts';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import ColumnLineage from './ColumnLineage.svelte';
import { lineagePage } from './fixtures.ts';

const table = { catalog: 'lake', namespace: 'sales', table: 'customer_events' };

test('each column has its origin, whether it is masked, and a link to the commit of the run', async () => {
  const screen = await render(ColumnLineage, { lineage: lineagePage(), table });
  await expect.element(screen.getByText(/^2 of 4 columns known, 1 masked, runs since/)).toBeVisible();
  const masked = screen.getByRole('row', {
    name: /^email_hash email of lake\.bronze\.raw DIRECT\/IDENTITY masked load/,
  });
  await expect
    .element(masked.getByRole('link'))
    .toHaveAttribute('href', commitPath(table, '5184430069070270604'));
  expect([await axeFindings(), doubleIds()]).toEqual([[], []]);
});

test('what a MERGE wrote and what no run names is unknown, and the page says why', async () => {
  const screen = await render(ColumnLineage, { lineage: lineagePage(), table });
  const rows = [
    /^amount unknown: only this table is named.*unknown/,
    /^note unknown unknown/,
    /^id .*not masked.*updated since by upsert/,
  ];
  for (const name of rows) await expect.element(screen.getByRole('row', { name })).toBeVisible();
  await expect
    .element(screen.getByText(/does not report for MERGE\..*read lake\.bronze\.cdc/s))
    .toBeVisible();
});

test('a table without reported lineage says how to send it; 320 px need no sideways scroll', async () => {
  await page.viewport(320, 800);
  const screen = await render(ColumnLineage, { lineage: lineagePage({ columns: [], runs: [] }), table });
  await expect.element(screen.getByText(/^No run has reported column lineage/)).toBeVisible();
  await render(ColumnLineage, { lineage: lineagePage(), table });
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(320);
  await page.viewport(1280, 800);
});
