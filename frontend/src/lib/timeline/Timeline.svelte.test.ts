import '../../app.css';
import { expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { Cursor } from '#lib/state/Cursor.svelte.ts';
import { preferences } from '#lib/state/preferences.svelte.ts';
import { axeFindings } from '../../test/axe.ts';
import { BURST, BURST_ID, DAY, NOW, story } from './fixtures/story.ts';
import type { Answer, Lane } from './lane.ts';
import Timeline from './Timeline.svelte';

const HOUR = 3_600_000;
// no header above, as the page has: the sticky row has nothing to stay clear of
for (const bar of ['--bar-h', '--tool-h']) document.documentElement.style.setProperty(bar, '0px');
const SPAN = { from: DAY, to: NOW, step: 30 };

interface Told {
  ranges: [from: number, to: number][];
  commits: string[];
  backs: number;
  retries: number;
  compared: number;
}

async function show(
  answer: Answer = story(),
  props: Partial<{
    selected: string;
    noted: string;
    dimmed: boolean;
    overview: Answer | null;
    log: string[];
  }> = {},
) {
  const told: Told = { ranges: [], commits: [], backs: 0, retries: 0, compared: 0 };
  const cursor = new Cursor();
  const screen = await render(Timeline, {
    answer,
    span: SPAN,
    now: NOW,
    cursor,
    onrange: (from: number, to: number) => told.ranges.push([from, to]),
    onback: () => (told.backs += 1),
    oncommit: (id: string) => told.commits.push(id),
    oncompare: () => (told.compared += 1),
    onretry: () => (told.retries += 1),
    ...props,
  });
  const slider = screen.getByRole('slider', { name: 'Time cursor' });
  await expect.element(slider).toBeVisible();
  return { screen, told, cursor, slider };
}

const all = (selector: string) => [...document.querySelectorAll<SVGElement>(selector)];
const plot = (id: string) => document.querySelector<HTMLElement>(`[data-lane=${id}] .plot`) as HTMLElement;
const pathOf = (id: string) => document.querySelector(`[data-series=${id}]`)?.getAttribute('d') ?? '';

/** A pointer at a share of the plot's width, over a lane. */
function pointer(type: string, share: number, lane = 'data_files', more: PointerEventInit = {}) {
  const box = plot(lane).getBoundingClientRect();
  const target = plot(lane).querySelector('svg') as SVGElement;
  target.dispatchEvent(
    new PointerEvent(type, {
      bubbles: true,
      cancelable: true,
      pointerId: 1,
      isPrimary: true,
      pointerType: 'mouse',
      button: 0,
      clientX: box.left + 1 + (box.width - 2) * share,
      clientY: box.top + 10,
      ...more,
    }),
  );
}
const settle = () => new Promise<void>((done) => requestAnimationFrame(() => done()));

async function dragOver(from: number, to: number) {
  // the browser refuses to capture a pointer that is not real
  (document.querySelector('.lanes') as HTMLElement).setPointerCapture = () => undefined;
  pointer('pointerenter', from);
  pointer('pointerdown', from);
  for (const share of [from + (to - from) / 2, to]) pointer('pointermove', share);
  pointer('pointerup', to);
  await settle();
}

test('the crosshair stands at the same x in every lane', async () => {
  await show();
  pointer('pointermove', 0.5, 'job_duration');
  await settle();
  const lines = all('line.cursor');
  expect(lines).toHaveLength(8);
  const width = plot('data_files').clientWidth;
  expect(new Set(lines.map((line) => line.getAttribute('x1')))).toEqual(
    new Set([`${Math.round(width / 2) + 0.5}`]),
  );
});

test('values at the cursor stand in the gutter, and differences against the pin', async () => {
  const { cursor } = await show();
  cursor.at = BURST;
  cursor.pin = BURST - 60_000;
  await settle();
  const gutter = document.querySelector('[data-lane=data_files] .gutter');
  expect(gutter?.textContent).toContain('51,202');
  expect(gutter?.textContent).toContain('+50,000');
});

test('a null is a gap in the path and never a zero', async () => {
  const answer = story();
  const lanes = answer.lanes.map((lane) =>
    lane.id === 'data_files' && lane.kind === 'step'
      ? { ...lane, v: lane.v.map((value, i) => (i >= 100 && i < 200 ? null : value)) }
      : lane,
  );
  await show({ ...answer, lanes });
  const d = pathOf('data_files');
  expect(d.match(/M/g)).toHaveLength(2);
  const floor = Number(document.querySelector('[data-lane=data_files] .floor')?.getAttribute('y1'));
  for (const [, y] of d.matchAll(/V([\d.]+)/g)) expect(Number(y)).toBeLessThan(floor);
});

test('a lane of nothing but nulls draws nothing and reads "not read"', async () => {
  const answer = story();
  const lanes = answer.lanes.map((lane) =>
    lane.kind === 'step' ? { ...lane, v: lane.v.map(() => null) } : lane,
  );
  const { cursor } = await show({ ...answer, lanes });
  cursor.at = DAY + 2 * HOUR;
  await settle();
  expect(pathOf('data_files')).toBe('');
  expect(document.querySelector('[data-lane=data_files] .gutter')?.textContent).toContain('not read');
});

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
  const { cursor, slider, told } = await show();
  cursor.at = BURST - 60_000;
  (slider.element() as HTMLElement).focus();
  await userEvent.keyboard('{]}');
  expect(cursor.at).toBe(BURST);
  await userEvent.keyboard('{Enter}');
  expect(told.commits).toEqual([BURST_ID]);
  await userEvent.keyboard('{]}{[}');
  expect(cursor.at).toBe(BURST);
});

test('letters pressed outside of the timeline do nothing', async () => {
  const { cursor, told } = await show();
  cursor.selection = [DAY, DAY + HOUR];
  (document.activeElement as HTMLElement | null)?.blur();
  await userEvent.keyboard('z]w');
  expect([told.ranges, cursor.at]).toEqual([[], null]);
});

test('a drag selects on the step, Z zooms to it, Escape clears', async () => {
  const { cursor, slider, told } = await show();
  await dragOver(0.4, 0.6);
  expect(cursor.selection).toEqual([DAY + 2.4 * HOUR, DAY + 3.6 * HOUR]);
  (slider.element() as HTMLElement).focus();
  await userEvent.keyboard('z');
  expect(told.ranges).toEqual([[DAY + 2.4 * HOUR, DAY + 3.6 * HOUR]]);
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
  const { told } = await show();
  plot('data_files').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
  expect(told.backs).toBe(1);
});

test('the plain wheel scrolls the page, with Ctrl it zooms at the cursor', async () => {
  const { told } = await show();
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
  expect(told.ranges).toEqual([]);
  expect(wheel(true)).toBe(false);
  const [from, to] = told.ranges[0] ?? [0, 0];
  expect((to - from) / (6 * HOUR)).toBeCloseTo(0.8, 2);
  expect((from + to) / 2).toBeCloseTo(DAY + 3 * HOUR, -5);
});

test('marks are one tab stop with arrows between them', async () => {
  const { told } = await show(story(), { noted: BURST_ID });
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
  expect(told.commits).toEqual([BURST_ID]);
});

test('a cluster names its size and opens by zooming', async () => {
  const { screen, told } = await show();
  await screen
    .getByRole('button', { name: /^\d+ commits .*largest/ })
    .first()
    .click();
  const [from, to] = told.ranges[0] ?? [0, 0];
  expect(to - from).toBeGreaterThanOrEqual(60_000);
  expect(to - from).toBeLessThan(HOUR);
});

test('a failed source is a cause and Retry in its lane; others are untouched', async () => {
  const answer = story();
  const problem = { type: 'source-timeout', title: 'Slow', detail: 'Prometheus did not answer in 8 s.' };
  const lanes = answer.lanes.map((lane): Lane =>
    lane.id === 'job_duration' ? { ...lane, status: 'error', problem } : lane,
  );
  const { screen, told } = await show({ ...answer, lanes });
  await expect.element(screen.getByText(/Prometheus did not answer in 8 s\./).first()).toBeVisible();
  expect(pathOf('data_files')).not.toBe('');
  await screen.getByRole('button', { name: /Retry/ }).click();
  expect(told.retries).toBe(1);
});

test('an absent lane says in one line why', async () => {
  const { screen } = await show();
  await expect.element(screen.getByText(/No alert was told here yet/)).toBeVisible();
});

test('only metadata is hatched right of the watermark', async () => {
  const { screen } = await show();
  const hatched = [...document.querySelectorAll('.unread')].map(
    (each) => each.closest<HTMLElement>('[data-lane]')?.dataset['lane'],
  );
  expect(hatched).toEqual(['commits', 'schema', 'data_files', 'file_size', 'delete_files', 'freshness']);
  await expect.element(screen.getByText('Metadata read up to 05:46:40')).toBeVisible();
});

test('the table says the same numbers, 25 rows a page, ids as text', async () => {
  const { cursor, screen } = await show();
  cursor.at = BURST;
  await screen.getByRole('button', { name: 'View as table' }).click();
  await expect.element(screen.getByRole('table')).toBeVisible();
  const rows = screen.getByRole('table').element().querySelectorAll('tbody tr');
  expect(rows).toHaveLength(25);
  const after = [...rows].find((row) => row.textContent?.includes('03:04:30'));
  expect(after?.textContent).toContain('51,202');
  expect(after?.textContent).toContain(BURST_ID);
  const before = [...rows].find((row) => row.textContent?.includes('03:04:00'));
  expect(before?.textContent).toContain('1,202');
});

test('while newer data are on their way the drawing is dimmed, labels are not', async () => {
  await show(story(), { dimmed: true });
  expect(getComputedStyle(document.querySelector('[data-lane=data_files] g') as Element).opacity).toBe('0.6');
  expect(getComputedStyle(document.querySelector('[data-lane=data_files] h3') as Element).opacity).toBe('1');
});

/** Findings of axe; contrasts it cannot decide (a lone digit, text over a drawing) are computed by the tokens' test. */
const findings = async () =>
  (await axeFindings()).filter((found) => !found.startsWith('undecided color-contrast'));

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['light', 320],
])('axe finds nothing, and nothing scrolls sideways (%s, %d px)', async (theme, width) => {
  document.documentElement.dataset['theme'] = theme;
  await page.viewport(width, 844);
  const { cursor, screen } = await show(story(), { noted: BURST_ID });
  await screen.getByRole('button', { name: 'View as table' }).click();
  expect(await findings()).toEqual([]);
  cursor.selection = [DAY + HOUR, DAY + 2 * HOUR];
  await settle();
  expect(await findings()).toEqual([]);
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width);
  delete document.documentElement.dataset['theme'];
  await page.viewport(1280, 800);
});

test('every target is at least 24 px', async () => {
  await show(story(), { noted: BURST_ID });
  for (const button of document.querySelectorAll('.timeline button')) {
    const { width, height } = button.getBoundingClientRect();
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(24);
  }
});

test('the period before is dashed in its lane, differences are against it, and C asks for it', async () => {
  const answer = story({ step: 30 });
  const lane = answer.lanes.find((each) => each.id === 'data_files') as Extract<Lane, { kind: 'step' }>;
  const then = { ...lane, v: answer.t.map((_, i) => (i < 20 ? null : 1000)), min: null, max: null };
  const { screen, told, cursor, slider } = await show({ ...answer, cmp: { seconds: 86_400, lanes: [then] } });
  const ghost = document.querySelector('[data-earlier=data_files]');
  expect(ghost?.getAttribute('d')?.match(/M/g)).toHaveLength(1);
  expect(document.querySelectorAll('[data-earlier]')).toHaveLength(1);
  cursor.at = BURST + 60_000;
  await expect.element(screen.getByText('+50,202')).toBeVisible();
  await expect.element(screen.getByText('Δ 1 d')).toBeVisible();
  cursor.pin = BURST - 60_000;
  await expect.element(screen.getByText('+50,000').first()).toBeVisible();
  (slider.element() as HTMLElement).focus();
  await userEvent.keyboard('c');
  expect(told.compared).toBe(1);
});

test('with keys of one letter switched off only the arrows and their like work', async () => {
  preferences.choose({ shortcuts: false });
  const { told, cursor, slider } = await show();
  (slider.element() as HTMLElement).focus();
  await userEvent.keyboard('w[[a');
  expect([told.ranges, cursor.at]).toEqual([[], null]);
  await userEvent.keyboard('{ArrowLeft}');
  expect(cursor.at).not.toBeNull();
  preferences.choose({ shortcuts: true });
});

const mini = () => document.querySelector('.minimap .plot') as HTMLElement;
/** A click, or a drag to `to`, at shares of the overview's width. */
function onMap(share: number, to = share) {
  const box = mini().getBoundingClientRect();
  const at = (part: number) => ({
    ...{ bubbles: true, pointerId: 1, button: 0, isPrimary: true },
    clientX: box.left + 1 + (box.width - 2) * part,
  });
  mini().dispatchEvent(new PointerEvent('pointerdown', at(share)));
  if (to !== share) mini().dispatchEvent(new PointerEvent('pointermove', at(to)));
  mini().dispatchEvent(new PointerEvent('pointerup', at(to)));
}

test('two clicks in the overview choose a range, without a drag', async () => {
  const { told, screen } = await show(story(), { overview: story() });
  await expect.element(screen.getByRole('slider', { name: 'Start of the range' })).toBeVisible();
  // the map is the day that ends now, at 06:00: 08:24 is a tenth of it
  onMap(0.1);
  await expect.element(screen.getByText('click the other end')).toBeVisible();
  expect(told.ranges).toEqual([]);
  onMap(0.15);
  const at = (share: number) => NOW - 24 * HOUR * (1 - share);
  for (const [i, share] of [0.1, 0.15].entries())
    expect(Math.abs((told.ranges[0]?.[i] ?? 0) - at(share))).toBeLessThanOrEqual(120_000);
});

test('a drag in the overview chooses, and a drag of the window moves it', async () => {
  const { told, screen } = await show(story(), { overview: story() });
  await expect.element(screen.getByRole('slider', { name: 'Start of the range' })).toBeVisible();
  onMap(0.1, 0.2);
  expect(Math.abs((told.ranges[0]?.[1] ?? 0) - (told.ranges[0]?.[0] ?? 0) - 2.4 * HOUR)).toBeLessThanOrEqual(
    240_000,
  );
  onMap(0.85, 0.6);
  const [from = 0, to = 0] = told.ranges[1] ?? [];
  expect([to - from, Math.round((from - SPAN.from) / HOUR)]).toEqual([SPAN.to - SPAN.from, -6]);
});

test('the handles of the overview are sliders', async () => {
  const { told, screen } = await show(story(), { overview: story() });
  const start = screen.getByRole('slider', { name: 'Start of the range' });
  await expect.element(start).toHaveAttribute('aria-valuetext', '21 Nov 00:00 UTC');
  (start.element() as HTMLElement).focus();
  await userEvent.keyboard('{ArrowRight}{PageUp}{Home}');
  const [one, ten, first] = told.ranges.map(([from]) => from - SPAN.from);
  expect([(ten ?? 0) / (one ?? 1), told.ranges.every(([, to]) => to === SPAN.to)]).toEqual([10, true]);
  expect(first).toBe(NOW - 24 * HOUR - SPAN.from);
  expect(await axeFindings(document.querySelector('.overview') as Element)).toEqual([]);
});

test('the place of an overview is kept until it comes', async () => {
  const { screen } = await show(story(), { overview: null });
  const height = () => document.querySelector('.overview')?.getBoundingClientRect().height;
  const kept = height();
  await screen.rerender({ overview: story() });
  await expect.element(screen.getByRole('slider', { name: 'End of the range' })).toBeVisible();
  expect(height()).toBe(kept);
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
  const { told, cursor, slider } = await show();
  slider.element().focus();
  await userEvent.keyboard('{Control>}z{/Control}');
  cursor.pin = BURST;
  await userEvent.keyboard('{Escape}{Escape}');
  expect([told.backs, cursor.pin]).toEqual([2, null]);
});

test('a lane stands on the axis that the reader chose, and says so', async () => {
  await show(story(), { log: ['data_files'] });
  const unit = (id: string) => document.querySelector(`[data-lane=${id}] .unit`)?.textContent;
  expect([unit('data_files'), unit('file_size')]).toEqual(['count, Δ, log', 'p10 to p90']);
  const ticks = document.querySelectorAll('[data-lane=data_files] .ticks span');
  expect([...ticks].map((tick) => tick.textContent)).toContain('10k');
});

test('a lane that is told in buckets says so and is tinted; one that is not is plain', async () => {
  const answer = story();
  const lanes = answer.lanes.map((each): Lane =>
    each.id === 'data_files' ? { ...each, resolution: 'hour' } : each,
  );
  await show({ ...answer, lanes });
  const unit = (id: string) => document.querySelector(`[data-lane=${id}] .unit`)?.textContent;
  expect([unit('data_files'), unit('delete_files')]).toEqual(['1 h buckets · count, Δ', 'count']);
  expect(all('.drawing.rolled')).toHaveLength(1);
});
