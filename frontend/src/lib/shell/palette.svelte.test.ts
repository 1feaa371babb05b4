import '../../app.css';
import { expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings } from '../../test/axe.ts';
import RangePicker from '#lib/ui/range/RangePicker.svelte';
import type { RangeText } from '#lib/time/range.ts';
import Palette from './Palette.svelte';
import { placeOf } from './place.ts';
import ShortcutsDialog from './ShortcutsDialog.svelte';

const HOUR = 3_600_000;
const TABLE = placeOf('/t/[catalog]/[ns]/[table]', { catalog: 'lake', ns: 'sales', table: 'orders' });

/** The palette over a page with a time range. */
async function show() {
  const shown: RangeText[] = [];
  let helped = 0;
  const now = Date.now();
  await render(RangePicker, {
    value: { from: 'now-24h', to: 'now' },
    range: { from: now - 24 * HOUR, to: now, relative: true },
    onchange: (text: RangeText) => shown.push(text),
  });
  const screen = await render(Palette, { open: true, place: TABLE, onhelp: () => (helped += 1) });
  const field = screen.getByRole('combobox', { name: 'Table, page or command' });
  await expect.element(field).toHaveFocus();
  return { screen, field, shown, helps: () => helped };
}
const selected = () => document.querySelector('[role=option][aria-selected=true]')?.textContent?.trim() ?? '';

test('it opens with the focus in its field, and names everything', async () => {
  const { screen, field } = await show();
  await expect.element(screen.getByRole('option', { name: 'Last 6 hours' })).toBeVisible();
  await expect.element(screen.getByRole('option', { name: 'This table: Timeline' })).toBeVisible();
  // what is scrolled away has no contrast that could be computed
  await field.fill('table');
  expect(await axeFindings()).toEqual([]);
});

test('a command is found by its words and run by Enter', async () => {
  const { field, shown } = await show();
  await userEvent.type(field, '6 h');
  expect(selected()).toContain('Last 6 hours');
  await userEvent.keyboard('{Enter}');
  await expect.poll(() => shown).toEqual([{ from: 'now-6h', to: 'now' }]);
  expect(document.querySelector('dialog[open]')).toBeNull();
});

test('the arrows wrap around the list, and the field names the active option', async () => {
  const { field } = await show();
  const first = selected();
  await userEvent.keyboard('{ArrowDown}');
  expect(selected()).not.toBe(first);
  await userEvent.keyboard('{ArrowUp}');
  expect(selected()).toBe(first);
  await userEvent.keyboard('{ArrowUp}');
  const options = document.querySelectorAll('[role=option]');
  expect(field.element().getAttribute('aria-activedescendant')).toBe(options[options.length - 1]?.id);
});

test('a range of Grafana that is pasted is shown', async () => {
  const { field, shown } = await show();
  await field.fill('{"from":"2026-11-21T03:00:00Z","to":"2026-11-21T04:00:00Z"}');
  expect(selected()).toContain('Show 03:00 – 04:00 UTC');
  await userEvent.keyboard('{Enter}');
  await expect.poll(() => shown).toEqual([{ from: '2026-11-21T03:00:00Z', to: '2026-11-21T04:00:00Z' }]);
});

test('an id is offered as a commit of the open table, all its digits', async () => {
  const { field, screen } = await show();
  await field.fill('5184430069070270604');
  await expect.element(screen.getByRole('option', { name: /Commit 5184430069070270604/ })).toBeVisible();
});

test('text that could be markup stays text', async () => {
  const { field, screen } = await show();
  await field.fill('lake.sales.<img/src=x>');
  await field.fill('lake.sales."><img>');
  await expect.element(screen.getByText(/"><img>/)).toBeVisible();
  expect(document.querySelector('[role=listbox] img')).toBeNull();
});

test('the list of keys says how to switch letters off, and does', async () => {
  localStorage.removeItem('limnograph.preferences');
  const screen = await render(ShortcutsDialog, { open: true });
  const box = screen.getByRole('checkbox', { name: 'Single-letter shortcuts' });
  await expect.element(box).toBeChecked();
  await box.click();
  expect(localStorage.getItem('limnograph.preferences')).toContain('"shortcuts":false');
  expect(await axeFindings()).toEqual([]);
  await box.click();
});
