// Melt's gaps that the wrappers close. axe finds none of them by itself, so each is asserted by hand as well.
import '../../app.css';
import { createRawSnippet } from 'svelte';
import { expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import { shown, Suggested } from './SuggestedList.test.svelte';
import Combobox from './Combobox.svelte';
import Dialog from './Dialog.svelte';
import Popover from './Popover.svelte';
import Select from './Select.svelte';

const TABLES = [
  { value: '/t/lake/sales/orders', label: 'sales.orders', note: 'lake' },
  { value: '/t/lake/web/clicks', label: 'web.clicks' },
];
const LEVELS = [
  { value: 'any', label: 'any' },
  { value: 'append', label: 'append' },
  { value: 'delete', label: 'delete' },
] as const;

/** The element that `aria-activedescendant` of `owner` names. */
const activeOf = (owner: Element) =>
  document.getElementById(owner.getAttribute('aria-activedescendant') ?? '');

function combobox(suggestions = TABLES) {
  const suggested = (shown.suggested = new Suggested());
  suggested.suggestions = suggestions;
  const list = () => import('./SuggestedList.test.svelte');
  return { suggested, props: { label: 'Find table', list } };
}

test('a combobox announces the active option from the field, and Enter chooses it', async () => {
  const { suggested, props } = combobox();
  const screen = await render(Combobox, props);
  const field = screen.getByRole('combobox', { name: 'Find table' });
  await field.click();
  await expect.element(field).toHaveAttribute('aria-expanded', 'true');
  await expect.poll(() => activeOf(field.element())?.textContent).toContain('sales.orders');
  await userEvent.keyboard('{ArrowDown}');
  await expect.poll(() => activeOf(field.element())?.textContent).toContain('web.clicks');
  expect(activeOf(field.element())?.hasAttribute('data-highlighted')).toBe(true);
  expect(await axeFindings()).toEqual([]);
  await userEvent.keyboard('{Enter}');
  expect(suggested.chosen).toEqual(['/t/lake/web/clicks']);
  await expect.element(field).toHaveValue('');
});

test('typing requests suggestions and Escape closes the list', async () => {
  const { suggested, props } = combobox();
  const screen = await render(Combobox, props);
  const field = screen.getByRole('combobox');
  await field.fill('cli');
  // the list is loaded at the first focus: what was typed before it is there is told when it is
  await expect.poll(() => suggested.typed).toContain('cli');
  await expect.element(field).toHaveAttribute('aria-expanded', 'true');
  await userEvent.keyboard('{Escape}');
  await expect.element(field).toHaveAttribute('aria-expanded', 'false');
});

test('suggestions that arrive late get an active option all the same', async () => {
  const { suggested, props } = combobox([]);
  const screen = await render(Combobox, props);
  const field = screen.getByRole('combobox');
  await field.click();
  await expect.element(screen.getByText('Nothing')).toBeVisible();
  suggested.suggestions = TABLES;
  await expect.poll(() => activeOf(field.element())?.textContent).toContain('sales.orders');
  await userEvent.keyboard('{Enter}');
  expect(suggested.chosen).toEqual(['/t/lake/sales/orders']);
});

test('Enter pressed before the suggestions of the text arrive chooses the first of them', async () => {
  const { suggested, props } = combobox([{ value: '/t/old', label: 'old' }]);
  suggested.pending = true;
  const screen = await render(Combobox, props);
  const field = screen.getByRole('combobox');
  await field.fill('orders');
  await expect.poll(() => suggested.typed).toContain('orders');
  await userEvent.keyboard('{Enter}');
  expect(suggested.chosen, 'not one of an earlier text').toEqual([]);
  suggested.suggestions = TABLES;
  suggested.pending = false;
  await expect.poll(() => suggested.chosen).toEqual(['/t/lake/sales/orders']);
});

test('typing on takes a pressed Enter back', async () => {
  const { suggested, props } = combobox([]);
  suggested.pending = true;
  const screen = await render(Combobox, props);
  await screen.getByRole('combobox').click();
  await expect.poll(() => suggested.typed.length).toBeGreaterThan(0);
  await userEvent.keyboard('o{Enter}r');
  suggested.suggestions = TABLES;
  suggested.pending = false;
  await expect.element(screen.getByText('sales.orders')).toBeVisible();
  expect(suggested.chosen).toEqual([]);
});

test('two lists with equal values share no id', async () => {
  const props = { value: 'any', choices: LEVELS, onchange: () => {} } as const;
  await render(Select, { ...props, label: 'Operation' });
  await render(Select, { ...props, label: 'Other' });
  expect(document.querySelectorAll('[role=option]')).toHaveLength(6);
  expect(doubleIds()).toEqual([]);
});

test('a select has a name, an active option that exists, and works by keyboard', async () => {
  const chosen: string[] = [];
  const screen = await render(Select, {
    label: 'Operation',
    value: 'any',
    choices: LEVELS,
    onchange: (value: string) => chosen.push(value),
  });
  const trigger = screen.getByRole('combobox', { name: 'Operation: any' });
  await trigger.click();
  const list = screen.getByRole('listbox', { name: 'Operation' });
  await expect.element(list).toBeVisible();
  await userEvent.keyboard('{ArrowDown}{ArrowDown}');
  await expect.poll(() => activeOf(list.element())?.hasAttribute('data-highlighted')).toBe(true);
  expect(await axeFindings()).toEqual([]);
  await userEvent.keyboard('{Enter}');
  expect(chosen).toHaveLength(1);
  expect(chosen[0]).not.toBe('any');
});

const trigger = createRawSnippet(() => ({ render: () => '<span>Meta 40 s</span>' }));
const content = createRawSnippet(() => ({
  render: () => '<p>Last success 40 s ago <a href="/status">All</a></p>',
}));

test('a popover is a named dialog and its button says whether it is open', async () => {
  const screen = await render(Popover, { label: 'Meta 40 s', title: 'Meta', trigger, children: content });
  const button = screen.getByRole('button', { name: 'Meta 40 s' });
  await expect.element(button).toHaveAttribute('aria-expanded', 'false');
  await button.click();
  await expect.element(button).toHaveAttribute('aria-expanded', 'true');
  await expect.element(screen.getByRole('dialog', { name: 'Meta' })).toBeVisible();
  expect(await axeFindings()).toEqual([]);
  await userEvent.keyboard('{Escape}');
  await expect.element(button).toHaveAttribute('aria-expanded', 'false');
  await expect.element(button).toHaveFocus();
});

test('a dialog is named by its heading, closes on Escape and opens again', async () => {
  const screen = await render(Dialog, { open: true, title: 'Keyboard', children: content });
  await expect.element(screen.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
  expect(await axeFindings()).toEqual([]);
  await userEvent.keyboard('{Escape}');
  await expect.poll(() => document.querySelector('dialog')?.open).toBe(false);
  await screen.rerender({ open: true });
  await expect.element(screen.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
});
