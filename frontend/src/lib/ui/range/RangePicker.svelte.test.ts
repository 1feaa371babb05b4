import '../../../app.css';
import { expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import type { RangeText } from '#lib/time/range.ts';
import { keepHours } from '#lib/time/step.ts';
import { axeFindings } from '../../../test/axe.ts';
import RangePicker from './RangePicker.svelte';

const TO = Date.UTC(2026, 10, 21, 6);
const FROM = TO - 6 * 3_600_000;

async function picker() {
  const chosen: RangeText[] = [];
  const screen = await render(RangePicker, {
    value: { from: 'now-6h', to: 'now' },
    range: { from: FROM, to: TO, relative: true },
    onchange: (value: RangeText) => chosen.push(value),
  });
  return { chosen, screen, open: screen.getByRole('button', { name: /Change the time range/ }) };
}

test('the range reads in UTC and a preset is one click', async () => {
  const { chosen, screen, open } = await picker();
  await expect.element(open).toMatchTextContent(/00:00 – 06:00 UTC/);
  await open.click();
  await expect
    .element(screen.getByRole('button', { name: 'Last 6 h' }))
    .toHaveAttribute('aria-pressed', 'true');
  expect(await axeFindings()).toEqual([]);
  await screen.getByRole('button', { name: 'Last 24 h' }).click();
  expect(chosen).toEqual([{ from: 'now-24h', to: 'now' }]);
});

test('typed ends are checked before they are used', async () => {
  const { chosen, screen, open } = await picker();
  await open.click();
  await screen.getByLabelText('From').fill('yesterday-ish');
  await userEvent.keyboard('{Enter}');
  await expect.element(screen.getByText(/From: enter/)).toBeVisible();
  await screen.getByLabelText('From').fill('2026-11-21T04:00Z');
  await screen.getByLabelText('To').fill('2026-11-21T03:00Z');
  await userEvent.keyboard('{Enter}');
  await expect.element(screen.getByText(/To must be later/)).toBeVisible();
  await screen.getByLabelText('From').fill('2015-01-01');
  await userEvent.keyboard('{Enter}');
  await expect.element(screen.getByText(/maximum of 2,000 days/)).toBeVisible();
  expect(chosen).toEqual([]);
  await screen.getByLabelText('From').fill('2026-11-21T04:00Z');
  await screen.getByLabelText('To').fill('2026-11-21T05:00Z');
  await userEvent.keyboard('{Enter}');
  expect(chosen).toEqual([{ from: '2026-11-21T04:00Z', to: '2026-11-21T05:00Z' }]);
});

test('half a window back keeps the width and becomes absolute', async () => {
  const { chosen, screen } = await picker();
  await screen.getByRole('button', { name: 'Back half a window' }).click();
  const half = 3 * 3_600_000;
  expect(chosen).toEqual([{ from: String(FROM - half), to: String(TO - half) }]);
});

test('how far back hours are kept is what the server’s settings say', async () => {
  keepHours(90);
  const { screen, open } = await picker();
  await open.click();
  await expect.element(screen.getByText('Hourly data for 90 days, daily before that.')).toBeVisible();
  keepHours(400);
});
