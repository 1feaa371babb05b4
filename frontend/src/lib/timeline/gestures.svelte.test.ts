// What keys, the pointer and the buttons do.
import { expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { preferences } from '#lib/preferences/preferences.svelte.ts';
import { axeFindings } from '../../test/axe.ts';
import { all, dragOver, HOUR, plot, settle, show } from './fixtures/shown.ts';
import { BURST, BURST_ID, DAY, story } from './fixtures/story.ts';

test('the slider moves by steps and pages, and says time and values', async () => {
  const { cursor, slider } = await show();
  cursor.at = DAY + 2 * HOUR;
  (slider.element() as HTMLElement).focus();
  await userEvent.keyboard('{ArrowRight}');
  expect(cursor.at).toBe(DAY + 2 * HOUR + 30_000);
  await userEvent.keyboard('{PageDown}{Home}');
  expect(cursor.at).toBe(DAY);
  cursor.at = BURST;
  await settle();
  await expect
    .element(slider)
    .toHaveAttribute(
      'aria-valuetext',
      expect.stringMatching(/03:04:12 UTC, job duration \d+ s, data files 51,202, delete files 17/),
    );
});

test('brackets go from commit to commit and Enter opens the one at the cursor', async () => {
  const { cursor, slider, calls } = await show();
  cursor.at = BURST - 60_000;
  (slider.element() as HTMLElement).focus();
  await userEvent.keyboard('{]}');
  expect(cursor.at).toBe(BURST);
  await userEvent.keyboard('{Enter}');
  expect(calls.commits).toEqual([BURST_ID]);
  await userEvent.keyboard('{]}{[}');
  expect(cursor.at).toBe(BURST);
});

test('letters pressed outside of the timeline do nothing', async () => {
  const { cursor, calls } = await show();
  cursor.selection = [DAY, DAY + HOUR];
  (document.activeElement as HTMLElement | null)?.blur();
  await userEvent.keyboard('z]w');
  expect([calls.ranges, cursor.at]).toEqual([[], null]);
});

test('a drag selects on the step, Z zooms to it, Escape clears', async () => {
  const { cursor, slider, calls } = await show();
  await dragOver(0.4, 0.6);
  expect(cursor.selection).toEqual([DAY + 2.4 * HOUR, DAY + 3.6 * HOUR]);
  (slider.element() as HTMLElement).focus();
  await userEvent.keyboard('z');
  expect(calls.ranges).toEqual([[DAY + 2.4 * HOUR, DAY + 3.6 * HOUR]]);
  await dragOver(0.1, 0.2);
  await userEvent.keyboard('{Escape}');
  expect(cursor.selection).toBeNull();
});

test('without dragging, Shift and arrows select the same', async () => {
  const { cursor, slider } = await show();
  cursor.at = DAY + 2 * HOUR;
  (slider.element() as HTMLElement).focus();
  await userEvent.keyboard('{Shift>}{ArrowRight}{ArrowRight}{PageUp}{/Shift}');
  expect(cursor.selection).toEqual([DAY + 2 * HOUR, DAY + 2 * HOUR + 12 * 30_000]);
  await userEvent.keyboard('{Shift>}{PageDown}{/Shift}');
  expect(cursor.selection).toEqual([DAY + 2 * HOUR, DAY + 2 * HOUR + 2 * 30_000]);
});

test('a click pins A and a second one on it takes it away', async () => {
  const { cursor } = await show();
  await dragOver(0.25, 0.25);
  expect([cursor.pin, cursor.at]).toEqual([DAY + 1.5 * HOUR, DAY + 1.5 * HOUR]);
  await dragOver(0.25, 0.25);
  expect(cursor.pin).toBeNull();
});

test('a double click asks for the range before', async () => {
  const { calls } = await show();
  plot('data_files').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
  expect(calls.backs).toBe(1);
});

test('the plain wheel scrolls the page, with Ctrl it zooms at the cursor', async () => {
  const { calls } = await show();
  const box = plot('data_files').getBoundingClientRect();
  const wheel = (ctrlKey: boolean) =>
    plot('data_files').dispatchEvent(
      new WheelEvent('wheel', {
        bubbles: true,
        cancelable: true,
        deltaY: -1,
        ctrlKey,
        clientX: box.left + 1 + (box.width - 2) / 2,
      }),
    );
  expect(wheel(false)).toBe(true);
  expect(calls.ranges).toEqual([]);
  expect(wheel(true)).toBe(false);
  const [from, to] = calls.ranges[0] ?? [0, 0];
  expect((to - from) / (6 * HOUR)).toBeCloseTo(0.8, 2);
  expect((from + to) / 2).toBeCloseTo(DAY + 3 * HOUR, -5);
});

test('marks are one tab stop with arrows between them', async () => {
  const { calls } = await show(story(), { noted: BURST_ID });
  const marks = [...document.querySelectorAll<HTMLButtonElement>('.mark')];
  expect(marks.filter((mark) => mark.tabIndex === 0).map((mark) => mark.dataset['id'])).toEqual([BURST_ID]);
  const burst = marks.find((mark) => mark.dataset['id'] === BURST_ID) as HTMLButtonElement;
  expect(burst.getAttribute('aria-label')).toContain('+50,000 files');
  burst.focus();
  await userEvent.keyboard('{ArrowRight}');
  expect(document.activeElement).toBe(marks[marks.indexOf(burst) + 1]);
  expect(marks.filter((mark) => mark.tabIndex === 0)).toHaveLength(1);
  await userEvent.keyboard('{Home}');
  expect(document.activeElement).toBe(marks[0]);
  burst.click();
  expect(calls.commits).toEqual([BURST_ID]);
});

test('a cluster names its size and opens by zooming', async () => {
  const { screen, calls } = await show();
  await screen
    .getByRole('button', { name: /^\d+ commits .*largest/ })
    .first()
    .click();
  const [from, to] = calls.ranges[0] ?? [0, 0];
  expect(to - from).toBeGreaterThanOrEqual(60_000);
  expect(to - from).toBeLessThan(HOUR);
});

test('with keys of one letter switched off only the arrows and their like work', async () => {
  preferences.choose({ shortcuts: false });
  const { calls, cursor, slider } = await show();
  (slider.element() as HTMLElement).focus();
  await userEvent.keyboard('w[[a');
  expect([calls.ranges, cursor.at]).toEqual([[], null]);
  await userEvent.keyboard('{ArrowLeft}');
  expect(cursor.at).not.toBeNull();
  preferences.choose({ shortcuts: true });
});

test('M drops a numbered mark at the cursor, the footer lists it, goes there and takes it away', async () => {
  const { screen, cursor, slider } = await show();
  cursor.at = BURST - HOUR;
  await settle();
  slider.element().focus();
  await userEvent.keyboard('m');
  cursor.at = BURST;
  await userEvent.keyboard('m');
  await expect.element(screen.getByRole('list', { name: 'Marks' })).toBeVisible();
  expect(all('.over .mark')).toHaveLength(2);
  await screen.getByRole('button', { name: /^1 02:04:\d\d UTC: move/ }).click();
  expect(cursor.at).toBe(cursor.marks[0]);
  await screen.getByRole('button', { name: /^Remove mark 1/ }).click();
  expect(cursor.marks).toHaveLength(1);
  await screen.getByRole('button', { name: /^Mark/ }).click();
  expect(cursor.marks).toHaveLength(2);
  // a line crosses words of lanes: what is behind them is then beyond axe
  const found = (await axeFindings()).filter((each) => !each.startsWith('undecided color-contrast'));
  expect(found).toEqual([]);
});

test('Ctrl Z is the range before, and so is Escape when nothing is left to clear', async () => {
  const { calls, cursor, slider } = await show();
  slider.element().focus();
  await userEvent.keyboard('{Control>}z{/Control}');
  cursor.pin = BURST;
  await userEvent.keyboard('{Escape}{Escape}');
  expect([calls.backs, cursor.pin]).toEqual([2, null]);
});
