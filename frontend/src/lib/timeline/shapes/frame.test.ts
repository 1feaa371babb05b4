import { expect, test } from 'vitest';
import { DAY, NOW, WATERMARK, story } from '#lib/timeline/fixtures/story.ts';
import { frameOf } from './frame.ts';
import { timeScale } from '#lib/timeline/axes/scale.ts';

const scale = timeScale(DAY, NOW, 720);

test('metadata right of the watermark is marked as not read', () => {
  expect(frameOf(story(), scale, NOW).unreadFrom).toBeCloseTo(scale.px(WATERMARK), 5);
});
test('nothing is marked where everything is known', () => {
  expect(frameOf(story({ watermark: NOW }), scale, NOW).unreadFrom).toBeNull();
});
test('before the first pass nothing at all has been read', () => {
  expect(frameOf(story({ watermark: null }), scale, NOW).unreadFrom).toBe(0);
});
test('what lies in the future is not "not read"', () => {
  const late = timeScale(DAY, NOW + 3_600_000, 720);
  expect(frameOf(story({ watermark: NOW }), late, NOW).unreadFrom).toBeNull();
});
