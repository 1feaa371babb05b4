// What the timeline draws of an answer.
import { expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { all, HOUR, pathOf, plot, pointer, settle, show } from './fixtures/shown.ts';
import { BURST, BURST_ID, DAY, story } from './fixtures/story.ts';
import type { Lane } from '#lib/api/lanes.ts';

test('the crosshair is at the same x in every lane', async () => {
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

test('the gutter shows the values at the cursor and the differences from the pin', async () => {
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

test('a failed source is a cause and Retry in its lane; others are untouched', async () => {
  const answer = story();
  const problem = { type: 'source-timeout', title: 'Slow', detail: 'Prometheus did not answer in 8 s.' };
  const lanes = answer.lanes.map((lane): Lane =>
    lane.id === 'job_duration' ? { ...lane, status: 'error', problem } : lane,
  );
  const { screen, calls } = await show({ ...answer, lanes });
  await expect.element(screen.getByText(/Prometheus did not answer in 8 s\./).first()).toBeVisible();
  expect(pathOf('data_files')).not.toBe('');
  await screen.getByRole('button', { name: /Retry/ }).click();
  expect(calls.retries).toBe(1);
});

test('an absent lane says in one line why', async () => {
  const { screen } = await show();
  await expect.element(screen.getByText(/No alerts received yet/)).toBeVisible();
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

test('the previous period is dashed in its lane, differences are against it, and C requests it', async () => {
  const answer = story({ step: 30 });
  const lane = answer.lanes.find((each) => each.id === 'data_files') as Extract<Lane, { kind: 'step' }>;
  const then = { ...lane, v: answer.t.map((_, i) => (i < 20 ? null : 1000)), min: null, max: null };
  const { screen, calls, cursor, slider } = await show({
    ...answer,
    cmp: { table: null, seconds: 86_400, lanes: [then] },
  });
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
  expect(calls.compared).toBe(1);
});

test('a lane uses the chosen axis, and says so', async () => {
  await show(story(), { log: ['data_files'] });
  const unit = (id: string) => document.querySelector(`[data-lane=${id}] .unit`)?.textContent;
  expect([unit('data_files'), unit('file_size')]).toEqual(['count, Δ, log', 'p10 to p90']);
  const ticks = document.querySelectorAll('[data-lane=data_files] .ticks span');
  expect([...ticks].map((tick) => tick.textContent)).toContain('10k');
});

test('a lane in buckets says so and is tinted; others are plain', async () => {
  const answer = story();
  const lanes = answer.lanes.map((each): Lane =>
    each.id === 'data_files' ? { ...each, resolution: 'hour' } : each,
  );
  await show({ ...answer, lanes });
  const unit = (id: string) => document.querySelector(`[data-lane=${id}] .unit`)?.textContent;
  expect([unit('data_files'), unit('delete_files')]).toEqual(['1 h buckets · count, Δ', 'count']);
  expect(all('.drawing.rolled')).toHaveLength(1);
});
