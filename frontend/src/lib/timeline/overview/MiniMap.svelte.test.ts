// The overview above the lanes.
import { expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { axeFindings } from '../../../test/axe.ts';
import { HOUR, show, SPAN } from '#lib/timeline/fixtures/shown.ts';
import { NOW, story } from '#lib/timeline/fixtures/story.ts';

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
  const { calls, screen } = await show(story(), { overview: story() });
  await expect.element(screen.getByRole('slider', { name: 'Start of the range' })).toBeVisible();
  // the map is the day that ends now, at 06:00: 08:24 is a tenth of it
  onMap(0.1);
  await expect.element(screen.getByText('click the other end')).toBeVisible();
  expect(calls.ranges).toEqual([]);
  onMap(0.15);
  const at = (share: number) => NOW - 24 * HOUR * (1 - share);
  for (const [i, share] of [0.1, 0.15].entries())
    expect(Math.abs((calls.ranges[0]?.[i] ?? 0) - at(share))).toBeLessThanOrEqual(120_000);
});

test('a drag in the overview chooses, and a drag of the window moves it', async () => {
  const { calls, screen } = await show(story(), { overview: story() });
  await expect.element(screen.getByRole('slider', { name: 'Start of the range' })).toBeVisible();
  onMap(0.1, 0.2);
  expect(
    Math.abs((calls.ranges[0]?.[1] ?? 0) - (calls.ranges[0]?.[0] ?? 0) - 2.4 * HOUR),
  ).toBeLessThanOrEqual(240_000);
  onMap(0.85, 0.6);
  const [from = 0, to = 0] = calls.ranges[1] ?? [];
  expect([to - from, Math.round((from - SPAN.from) / HOUR)]).toEqual([SPAN.to - SPAN.from, -6]);
});

test('the handles of the overview are sliders', async () => {
  const { calls, screen } = await show(story(), { overview: story() });
  const start = screen.getByRole('slider', { name: 'Start of the range' });
  await expect.element(start).toHaveAttribute('aria-valuetext', '21 Nov 00:00 UTC');
  (start.element() as HTMLElement).focus();
  await userEvent.keyboard('{ArrowRight}{PageUp}{Home}');
  const [one, ten, first] = calls.ranges.map(([from]) => from - SPAN.from);
  expect([(ten ?? 0) / (one ?? 1), calls.ranges.every(([, to]) => to === SPAN.to)]).toEqual([10, true]);
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
