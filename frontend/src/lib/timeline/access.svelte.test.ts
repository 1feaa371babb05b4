// The timeline for everyone: axe, narrow screens, the size of targets.
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { axeFindings } from '../../test/axe.ts';
import { HOUR, settle, show } from './fixtures/shown.ts';
import { BURST_ID, DAY, story } from './fixtures/story.ts';

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
