import '../../app.css';
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import { columnsPage } from './fixtures.ts';
import ColumnsPanel from './ColumnsPanel.svelte';

const links = { commitHref: (id: string) => `/commits/${id}` };

test('the loudest column is drawn, and another is by its button', async () => {
  const screen = await render(ColumnsPanel, { page: columnsPage(), ...links });
  await expect
    .element(screen.getByRole('img', { name: 'Null share between 1 % and 40 %. Bounds -34.5 to 230.0.' }))
    .toBeVisible();
  await screen.getByRole('button', { name: 'customer_email' }).click();
  await expect.element(screen.getByRole('img', { name: /Bounds: private: counts only/ })).toBeVisible();
  expect([await axeFindings(), doubleIds()]).toEqual([[], []]);
});

test('the table of points links to the commits', async () => {
  const screen = await render(ColumnsPanel, { page: columnsPage(), ...links });
  await screen.getByRole('button', { name: 'Table' }).click();
  const link = screen.getByRole('link', { name: '5184430069070270610' });
  await expect.element(link).toHaveAttribute('href', '/commits/5184430069070270610');
  expect(await axeFindings()).toEqual([]);
});

test('without statistics the page says why', async () => {
  const nothing = { columns: [], commits: 0, not_known: 'Of Delta tables they are not known.' };
  const screen = await render(ColumnsPanel, { page: columnsPage(nothing), ...links });
  await expect.element(screen.getByText('Of Delta tables they are not known.')).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('the page fits a phone', async () => {
  await page.viewport(390, 844);
  await render(ColumnsPanel, { page: columnsPage(), ...links });
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390);
  await page.viewport(1280, 900);
});
