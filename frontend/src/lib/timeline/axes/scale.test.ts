import { describe, expect, test } from 'vitest';
import { timeScale, valueScale } from './scale.ts';
import { DAY, NOW } from '#lib/timeline/fixtures/story.ts';

const HOUR = 3_600_000;

describe('time scale', () => {
  const scale = timeScale(DAY, NOW, 720);
  test('the ends lie on the edges, and back', () => {
    expect([scale.px(DAY), scale.px(NOW)]).toEqual([0, 720]);
    expect(scale.at(scale.px(DAY + 1234567))).toBeCloseTo(DAY + 1234567, 0);
  });
  test.each([
    [6, 720],
    [6, 280],
    [24, 900],
    [0.02, 320],
    [24 * 400, 1100],
  ])('%d h over %d px have ticks that do not touch', (hours, width) => {
    const { ticks } = timeScale(NOW - hours * HOUR, NOW, width);
    expect(ticks.length).toBeGreaterThan(1);
    for (const [i, tick] of ticks.slice(1).entries())
      expect(tick.px - (ticks[i]?.px ?? 0)).toBeGreaterThanOrEqual(ticks.length > 2 ? 58 : 0);
  });
  test('midnight is named by its date, in UTC', () => {
    const labels = timeScale(DAY - 6 * HOUR, NOW, 720).ticks.map((tick) => tick.label);
    expect(labels).toContain('21 Nov');
    expect(labels).toContain('03:00');
  });
  test('a plot not yet measured has no ticks', () => expect(timeScale(DAY, NOW, 0).ticks).toEqual([]));
});

describe('value scale', () => {
  const room = { height: 100, top: 10, bottom: 10 };
  test('starts at zero and ends on a round number above the most', () => {
    const scale = valueScale({ ...room, extent: [1202, 51202] });
    expect(scale.y(0)).toBe(90);
    expect(scale.y(60_000)).toBeCloseTo(10, 5);
    expect(scale.ticks.map((tick) => tick.value)).toEqual([0, 20_000, 40_000, 60_000]);
  });
  test('minutes have ticks on whole minutes', () => {
    const scale = valueScale({ ...room, extent: [0, 1700], unit: 60 });
    for (const tick of scale.ticks) expect(tick.value % 60).toBe(0);
  });
  test('a level of zero everywhere still has an axis', () => {
    const scale = valueScale({ ...room, extent: [0, 0] });
    expect(Number.isFinite(scale.y(0))).toBe(true);
    expect(scale.y(0)).toBe(90);
  });
  test('nothing known still has an axis', () => {
    expect(Number.isFinite(valueScale({ ...room, extent: null }).y(3))).toBe(true);
  });
  test('logarithmic: equal ratios are equal heights, and sizes of nothing stay inside', () => {
    const scale = valueScale({ ...room, extent: [0.8e6, 131e6], log: true });
    expect(scale.y(1e6) - scale.y(1e7)).toBeCloseTo(scale.y(1e7) - scale.y(1e8), 5);
    expect(scale.y(131e6)).toBeGreaterThanOrEqual(10);
    expect(scale.y(0)).toBeLessThanOrEqual(90);
  });
});

test('a lane of zeros has an axis from 0 to 1, not two ticks that both say 0', () => {
  const ticks = valueScale({ extent: [0, 0], height: 52, top: 10, bottom: 8 }).ticks.map(
    (tick) => tick.value,
  );
  expect(ticks[0]).toBe(0);
  expect(ticks.at(-1)).toBe(1);
});

test('labels of a low lane do not touch: every other one stays, the axis is the same', () => {
  const low = { extent: [0, 62 * 60] as const, height: 56, top: 10, bottom: 8, unit: 60 };
  const { ticks, y } = valueScale(low);
  expect(ticks.map(({ value }) => value / 60)).toEqual([0, 40, 80]);
  expect(y(80 * 60)).toBeCloseTo(10, 6);
});
