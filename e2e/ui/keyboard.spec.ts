// Every key that the list of keys names does what it says, pressed one after the other; what a list says without a key
// that does it would be found here. Ranges that were not recorded are answered with an error, which the lanes outlive.
import type { Page } from '@playwright/test';
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { BURST_ID, NIGHT, TABLE } from './moment.ts';

const STEP = 30_000;
const param = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

test('keys of the cursor and of the range, on the timeline', async ({ page, stub, complaints }) => {
  stub.records = false;
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
  const [from, to] = await timeline.range();
  await timeline.slider.focus();
  const { keyboard } = page;
  const at = async () => Number(await timeline.slider.getAttribute('aria-valuenow'));
  const stands = (instant: number) => expect.poll(at).toBe(instant);
  const shows = (...span: number[]) => expect.poll(() => timeline.range()).toEqual(span);
  const says = (name: string, value: string | null) => expect.poll(() => param(page, name)).toBe(value);
  await keyboard.press('Home');
  await stands(from);
  await keyboard.press('ArrowRight');
  await stands(from + STEP);
  await keyboard.press('PageUp');
  await stands(from + 11 * STEP);
  await keyboard.press('PageDown');
  await keyboard.press('ArrowLeft');
  await stands(from);
  await keyboard.press('End');
  await stands(to - STEP);
  await keyboard.press('[');
  const commit = await at();
  await keyboard.press('[');
  expect(await at()).toBeLessThan(commit);
  await keyboard.press(']');
  await stands(commit);
  const marked = String(Math.floor(commit / STEP) * STEP);
  await keyboard.press('m');
  await says('marks', marked);
  await keyboard.press('m');
  await says('marks', null);
  await keyboard.press('Shift+ArrowLeft');
  await keyboard.press('Shift+ArrowLeft');
  const end = Number(marked);
  const start = end - 2 * STEP;
  await says('sel', `${start}..${end}`);
  await keyboard.press('f');
  await expect
    .poll(async () => (await timeline.range())[1] - (await timeline.range())[0])
    .toBeLessThan(300_000);
  const fitted = await timeline.range();
  expect(fitted[0] < start && fitted[1] > end).toBe(true);
  await keyboard.press('z');
  await shows(start, end);
  await keyboard.press('Control+z');
  await shows(...fitted);
  await keyboard.press('Escape');
  await shows(from, to);
  await keyboard.press('w');
  await expect.poll(async () => (await timeline.range())[0]).toBeGreaterThan(from);
  const narrow = await timeline.range();
  await keyboard.press('s');
  await expect.poll(async () => (await timeline.range())[0]).toBeLessThan(narrow[0]);
  const wide = await timeline.range();
  await keyboard.press('a');
  await expect.poll(async () => (await timeline.range())[0]).toBeLessThan(wide[0]);
  await keyboard.press('d');
  await expect.poll(async () => (await timeline.range())[1]).toBe(wide[1]);
  await keyboard.press('c');
  await says('cmp', '1d');
  await keyboard.press('c');
  await says('cmp', null);
  await keyboard.press('e');
  await says('panel', 'explain');
  await timeline.slider.focus();
  await keyboard.press('[');
  await keyboard.press('Enter');
  await expect.poll(() => param(page, 'c')).toMatch(/^\d{18,19}$/);
  [complaints.length, stub.unknown.length] = [0, 0];
});

test('keys of every page, of its range, of the live view and of a commit', async ({
  page,
  stub,
  complaints,
}) => {
  stub.records = false;
  const timeline = new TimelinePage(page);
  await page.goto(TABLE);
  await timeline.drawn();
  await timeline.slider.focus();
  const { keyboard } = page;
  const chord = async (first: string, second: string) => {
    await keyboard.press(first);
    await keyboard.press(second);
  };
  await keyboard.press(' ');
  await expect(page.getByRole('button', { name: 'Live' })).toHaveAttribute('aria-pressed', 'false');
  await keyboard.press(' ');
  await expect(page.getByRole('button', { name: 'Live' })).toHaveAttribute('aria-pressed', 'true');
  for (const [key, path] of Object.entries({ f: '/', t: TABLE, a: '/alerts', c: '/commits', s: '/status' })) {
    await chord('g', key);
    await expect.poll(() => new URL(page.url()).pathname).toBe(path);
  }
  await page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
  const [from, to] = await timeline.range();
  const shows = (...span: number[]) => expect.poll(() => timeline.range()).toEqual(span);
  await chord('t', 'ArrowLeft');
  await shows(from - (to - from) / 2, to - (to - from) / 2);
  await chord('t', 'ArrowRight');
  await shows(from, to);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await chord('t', 'c');
  await expect(page.getByRole('status').filter({ hasText: 'Time range copied' })).toBeVisible();
  await chord('t', 'z');
  await expect.poll(async () => (await timeline.range())[0]).toBeLessThan(from);
  await chord('t', 'v');
  await shows(from, to);
  await page.goto(`${TABLE}?from=now-6h`);
  await timeline.drawn();
  await chord('t', 'a');
  await expect.poll(() => param(page, 'from')).toMatch(/^\d{13}$/);
  for (const [key, name] of [
    ['?', 'Keyboard'],
    ['Control+k', 'Palette'],
  ] as const) {
    await keyboard.press(key);
    await expect(page.getByRole('dialog', { name })).toBeVisible();
    await keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
  await keyboard.press('/');
  await expect(page.getByRole('combobox', { name: /table/i })).toBeFocused();
  await page.goto(`${TABLE}/commits/${BURST_ID}`);
  await expect(page.getByText('51,202').first()).toBeVisible();
  await keyboard.press('[');
  await expect(page).not.toHaveURL(new RegExp(BURST_ID));
  [complaints.length, stub.unknown.length] = [0, 0];
});
