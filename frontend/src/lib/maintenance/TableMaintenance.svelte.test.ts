import '../../app.css';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import { plan, tableAdvice } from './fixtures.ts';
import TableMaintenance from './TableMaintenance.svelte';

const TABLE = { catalog: 'lake', namespace: 'sales', table: 'orders' };

test('advice from top to bottom: writer, plans, other rules, storage', async () => {
  const plans = [plan(), plan({ plan_id: '77', rule: 'expire', action: 'expire_snapshots' })];
  const data = tableAdvice({ recommendations: plans });
  const screen = await render(TableMaintenance, { data, table: TABLE, pending: false });
  await expect.element(screen.getByText('nightly_events')).toBeVisible();
  await expect.element(screen.getByText(/turn 1,840 files into 22/).first()).toBeVisible();
  await expect.element(screen.getByText(/saves 0.27 USD a month/)).toBeVisible();
  const storage = screen.getByRole('region', { name: 'Storage' });
  await expect.element(storage.getByText('12 GB').first()).toBeVisible();
  await expect.element(storage.getByText('not known').first()).toBeVisible();
  expect(await axeFindings()).toEqual([]);
  expect(doubleIds()).toEqual([]);
});

test('a table that was not evaluated shows why, and no storage', async () => {
  const data = { ...tableAdvice(), advice: null, problem: 'The catalog did not respond.' };
  const screen = await render(TableMaintenance, { data, table: TABLE, pending: false });
  await expect.element(screen.getByText('The catalog did not respond.')).toBeVisible();
  expect(document.body.textContent).not.toContain('Storage');
});
