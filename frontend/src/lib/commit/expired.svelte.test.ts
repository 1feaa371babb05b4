// Commits that the table's own expiry took: dotted, and said in words wherever a commit is told.
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import CommitView from './CommitView.svelte';
import { commitDetail } from './fixtures.ts';
import { axeFindings } from '../../test/axe.ts';
import { all, show } from '#lib/timeline/fixtures/shown.ts';
import { BURST, BURST_ID, NOW, story } from '#lib/timeline/fixtures/story.ts';
import type { Answer, EventsLane } from '#lib/api/lanes.ts';
import { pictureOf } from '#lib/timeline/export/picture.ts';
import { commitCell } from '#lib/timeline/shapes/readout.ts';
import { recordsOf } from '#lib/timeline/table/records.ts';

/** All commits before an instant are gone. */
function without(before: number): Answer {
  const answer = story();
  const lanes = answer.lanes.map((lane) =>
    lane.kind === 'events'
      ? { ...lane, events: lane.events.map((commit) => ({ ...commit, expired: commit.t < before })) }
      : lane,
  );
  return { ...answer, lanes };
}
const commits = (answer: Answer) => (answer.lanes.find(({ id }) => id === 'commits') as EventsLane).events;
const names = (selector: string) => all(selector).map((mark) => mark.getAttribute('aria-label') ?? '');

test('expired commits are dotted and say so; those that the table still has do not', async () => {
  const { screen } = await show(without(BURST + 1), { noted: BURST_ID });
  const dotted = all('.mark.expired');
  expect(dotted.length).toBeGreaterThan(3);
  expect(dotted.length).toBeLessThan(all('.mark').length);
  expect(names('.mark.expired').every((name) => name.endsWith('expired'))).toBe(true);
  expect(names('.mark:not(.expired)').some((name) => name.includes('expired'))).toBe(false);
  const burst = document.querySelector(`[data-id="${BURST_ID}"]`) as HTMLElement;
  expect(getComputedStyle(burst.querySelector('path') as Element).strokeDasharray).not.toBe('none');
  expect(burst.title).toMatch(/^Append 03:04:12 UTC, \+50,000 files.*, expired$/);
  await expect.element(screen.getByText('expired', { exact: true })).toBeVisible();
  expect(await axeFindings(document.querySelector('[data-lane=commits]') as Element)).toEqual([]);
});

test('where it is not known nothing is said', async () => {
  const { screen } = await show(story());
  expect(all('.mark.expired')).toHaveLength(0);
  await expect.element(screen.getByText('expired')).not.toBeInTheDocument();
  const rows = recordsOf(story(), story().lanes.find(({ id }) => id === 'commits') as EventsLane).rows;
  expect(new Set(rows.map((row) => row.at(-1)))).toEqual(new Set([null]));
});

test('tables and images show it', () => {
  const answer = without(BURST + 1);
  const [first, last] = [commits(answer)[0], commits(answer).at(-1)];
  expect([commitCell(first!).endsWith(' expired'), commitCell(last!).endsWith(' expired')]).toEqual([
    true,
    false,
  ]);
  const { head, rows } = recordsOf(answer, answer.lanes.find(({ id }) => id === 'commits') as EventsLane);
  expect([head.at(-1), rows[0]?.at(-1), rows.at(-1)?.at(-1)]).toEqual(['expired', 'yes', 'no']);
  const shown = { now: NOW, title: 'orders', link: 'https://example.org' };
  expect(pictureOf({ ...shown, answer }).svg).toContain('dotted: expired');
  expect(pictureOf({ ...shown, answer: story() }).svg).not.toContain('dotted');
});

test('the page of an expired commit says what no longer works, others say nothing', async () => {
  const screen = await render(CommitView, { detail: commitDetail({ expired: true }), hrefOf: () => '#' });
  await expect
    .element(screen.getByText(/time travel to it fails, and its files may be deleted/))
    .toBeVisible();
  await screen.rerender({ detail: commitDetail({ expired: false }) });
  await expect.element(screen.getByText(/time travel/)).not.toBeInTheDocument();
});
