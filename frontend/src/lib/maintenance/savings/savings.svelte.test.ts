import '../../../app.css';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../../test/axe.ts';
import { tableAdvice } from '#lib/maintenance/fixtures.ts';
import TableSavings from './TableSavings.svelte';

test('own numbers are calculated with at once; what is no amount is refused, and reset restores the usual ones', async () => {
  const data = tableAdvice();
  const comparison = data.comparison!;
  const screen = await render(TableSavings, { comparison, bytes: data.advice!.bytes });
  const row = (text: RegExp) => expect.element(screen.getByRole('row', { name: text })).toBeVisible();
  await expect.element(screen.getByText(/No engine reports reads/)).toBeVisible();
  await row(/^Held bytes freed .* not known 0.26 USD$/);
  await screen.getByRole('textbox', { name: /^Reads/ }).fill('24');
  await row(/^Now 0.81 USD 0.26 USD 2.02 USD 3.09 USD/);
  await screen.getByRole('textbox', { name: /^Storage/ }).fill('0,1');
  await row(/^Held bytes freed .* 1.12 USD$/);
  await screen.getByRole('textbox', { name: /^vCPU/ }).fill('much');
  await expect.element(screen.getByText(/^Not an amount/)).toBeVisible();
  expect(await axeFindings()).toEqual([]);
  expect(doubleIds()).toEqual([]);
  await screen.getByRole('button', { name: 'Reset' }).click();
  await expect.element(screen.getByRole('textbox', { name: /^Storage/ })).toHaveValue('0.023');
  await expect.element(screen.getByText(/No engine reports reads/)).toBeVisible();
});
