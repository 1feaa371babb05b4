import '../../app.css';
import { expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings } from '../../test/axe.ts';
import { fleetHeat } from './fixtures.ts';
import type { Measure } from './heat.ts';
import HeatMap from './HeatMap.svelte';

const HEAT = fleetHeat(
  { data_files: [2, 50_000, -3], commits: [1, 2, 0], alerts: [0, 1, 1] },
  { alerts: null },
);
const heatMap = (measure: Measure = 'files', onmeasure: (measure: Measure) => void = () => {}) =>
  render(HeatMap, { heat: HEAT, measure, onmeasure });

test('the grid of the fleet has a cell a part of the range, and arrows move in it', async () => {
  const screen = await heatMap();
  const burst = screen.getByRole('gridcell', { name: /^sales\.customer_events, .*: \+50,000 files$/ });
  await expect.element(burst).toBeVisible();
  const grid = screen.getByRole('grid').element() as HTMLElement;
  grid.focus();
  await userEvent.keyboard('{ArrowDown}{End}{ArrowRight}');
  const active = document.getElementById(grid.getAttribute('aria-activedescendant') ?? '');
  expect(active?.ariaLabel).toMatch(/^sales\.t1, 02:04/);
  expect(document.querySelectorAll('[data-on]')).toHaveLength(1);
  expect(active?.matches('[data-on]')).toBe(true);
  await expect.element(screen.getByText(/^sales\.t1, 02:04/)).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('the grid shows its numbers on request', async () => {
  const screen = await heatMap();
  await screen.getByRole('button', { name: 'View as table' }).click();
  await expect.element(screen.getByText('+50k')).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});

test('the grid counts the chosen measure; alerts never received are not read', async () => {
  const chosen: string[] = [];
  const screen = await heatMap('alerts', (measure) => chosen.push(measure));
  await expect
    .element(screen.getByRole('button', { name: 'Alerts' }))
    .toHaveAttribute('aria-pressed', 'true');
  expect(
    screen.getByRole('gridcell', { name: /^sales\.customer_events, .*: 1 alert$/ }).elements(),
  ).toHaveLength(2);
  expect(screen.getByRole('gridcell', { name: /^sales\.t1, .*: not read$/ }).elements()).toHaveLength(3);
  await screen.getByRole('button', { name: 'Commits' }).click();
  expect(chosen).toEqual(['commits']);
  expect(await axeFindings()).toEqual([]);
});

test('numbers come by pages of rows: keys and buttons turn them', async () => {
  const many = fleetHeat(...Array.from({ length: 30 }, (_, i) => ({ data_files: [i, 0, 0] })));
  const screen = await render(HeatMap, { heat: many, measure: 'files', onmeasure: () => {} });
  await screen.getByRole('button', { name: '30 tables' }).click();
  await expect.poll(() => screen.getByRole('rowheader').elements()).toHaveLength(30);
  await screen.getByRole('button', { name: 'View as table' }).click();
  await expect.element(screen.getByText('Rows 1–12 of 30')).toBeVisible();
  expect(screen.getByRole('rowheader').elements()).toHaveLength(12);
  await screen.getByRole('button', { name: 'Next' }).click();
  await expect.element(screen.getByText('+23', { exact: true })).toBeVisible();
  (screen.getByRole('grid').element() as HTMLElement).focus();
  await userEvent.keyboard('{PageDown}{PageDown}');
  await expect.element(screen.getByText('Rows 25–30 of 30')).toBeVisible();
  await expect.element(screen.getByRole('button', { name: 'Next' })).toBeDisabled();
  expect(await axeFindings()).toEqual([]);
});

test('the grid by risk says what stands out in each part', async () => {
  const heat = fleetHeat({ risk: ['none', 'file_burst', null] });
  const screen = await render(HeatMap, { heat, measure: 'risk', onmeasure: () => {} });
  await expect.element(screen.getByRole('button', { name: 'Risk' })).toHaveAttribute('aria-pressed', 'true');
  await expect.element(screen.getByRole('gridcell', { name: /: file burst$/ })).toBeVisible();
  await expect.element(screen.getByRole('gridcell', { name: /: not read$/ })).toBeVisible();
  await screen.getByRole('button', { name: 'View as table' }).click();
  await expect.element(screen.getByText('burst', { exact: true })).toBeVisible();
  expect(await axeFindings()).toEqual([]);
});
