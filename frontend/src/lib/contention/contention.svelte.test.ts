import '../../app.css';
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import ContentionPanel from './ContentionPanel.svelte';
import { contention, SILENT } from './fixtures.ts';

const given = { from: Date.UTC(2026, 10, 20, 6), commitHref: (id: string) => `/commits/${id}` };

test('collisions name both writers and link the commit that came first', async () => {
  const screen = await render(ContentionPanel, { contention: contention(), ...given });
  const pairs = screen.getByRole('region', { name: 'Writers that collided' });
  const row = pairs.getByRole('row', { name: /^merge_customers \(row delta\) refused 3 times events/ });
  await expect.element(row.first()).toBeVisible();
  await expect
    .element(pairs.getByRole('link', { name: '5184430069070270604' }).first())
    .toHaveAttribute('href', '/commits/5184430069070270604');
  const writers = screen.getByRole('region', { name: 'Attempts by writer' });
  await expect.element(writers.getByRole('row', { name: /^etl \(append\) 30 45 15 unknown/ })).toBeVisible();
  await expect.element(writers.getByRole('row', { name: /9 unknown unknown 3 0/ })).toBeVisible();
  expect([await axeFindings(), doubleIds()]).toEqual([[], []]);
});

test('reports that are no longer kept are said, and no report at all too', async () => {
  const late = await render(ContentionPanel, { contention: contention(), ...given, from: 0 });
  await expect.element(late.getByText(/since .*: reports are kept for 7 days/)).toBeVisible();
  await late.unmount();
  const screen = await render(ContentionPanel, { contention: SILENT, ...given });
  await expect.element(screen.getByText(/No engine reported a commit/)).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('the panel fits a phone', async () => {
  await page.viewport(390, 844);
  await render(ContentionPanel, { contention: contention(), ...given });
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390);
  await page.viewport(1280, 900);
});
