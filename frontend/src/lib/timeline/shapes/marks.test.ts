import { describe, expect, test } from 'vitest';
import { BURST, BURST_ID, DAY, NOW, story } from '#lib/timeline/fixtures/story.ts';
import { commitsOf, type CommitEvent } from '#lib/api/lanes.ts';
import { cluster, commitText, halfWidth, markText, radius } from './marks.ts';
import { timeScale } from '#lib/timeline/axes/scale.ts';

const events = commitsOf(story());
const at = (width: number) => timeScale(DAY, NOW, width).px;
const commit = (t: number, more: Partial<CommitEvent> = {}): CommitEvent => ({
  ...(events[0] as CommitEvent),
  snapshot_id: String(t),
  t,
  added_data_files: 1,
  ...more,
});

describe('clusters', () => {
  test.each([240, 700, 1400])('no commit is dropped and nothing overlaps at %d px', (width) => {
    const marks = cluster(events, at(width));
    expect(marks.flatMap((mark) => mark.commits.map((each) => each.snapshot_id)).sort()).toEqual(
      events.map((each) => each.snapshot_id).sort(),
    );
    for (const [i, mark] of marks.slice(1).entries()) {
      const left = marks[i] as (typeof marks)[number];
      expect(mark.px - left.px).toBeGreaterThan(
        halfWidth(left.commits.length) + halfWidth(mark.commits.length),
      );
    }
  });
  test('twelve commits within 20 px are one mark that names the largest', () => {
    const near = Array.from({ length: 12 }, (_, i) => commit(i, { added_data_files: i === 7 ? 40 : 1 }));
    const [mark, ...rest] = cluster(near, (t) => t * 1.7);
    expect(rest).toEqual([]);
    expect(mark?.commits).toHaveLength(12);
    expect(mark && markText(mark)).toMatch(/^12 commits .*largest: Append .*\+40 files/);
  });
  test('zooming separates them', () => {
    const near = Array.from({ length: 12 }, (_, i) => commit(i));
    expect(cluster(near, (t) => t * 60)).toHaveLength(12);
  });
  test('a commit that must stay separate is not clustered', () => {
    const marks = cluster([commit(0), commit(1), commit(2)], (t) => t * 5, new Set(['1']));
    expect(marks.map((mark) => mark.commits.length)).toEqual([1, 1, 1]);
  });
  test.each([240, 290, 360, 700])(
    'what stands beside it moves aside without running into others at %d px',
    (width) => {
      const marks = cluster(events, at(width), new Set([BURST_ID]));
      expect(marks.flatMap((mark) => mark.commits)).toHaveLength(events.length);
      for (const [i, mark] of marks.slice(1).entries()) {
        const left = marks[i] as (typeof marks)[number];
        expect(mark.px - left.px).toBeGreaterThan(
          halfWidth(left.commits.length) + halfWidth(mark.commits.length),
        );
      }
    },
  );
  test('the largest is labelled whatever else there is', () => {
    const labelled = cluster(events, at(700)).filter((mark) => mark.label);
    expect(labelled.map((mark) => mark.label)).toContain('+50,000');
    expect(cluster([commit(0, { added_data_files: 3 })], at(700))[0]?.label).toBe('+3');
  });
});

describe('a mark', () => {
  test('grows with the order of magnitude of changed files', () => {
    const sizes = [1, 30, 900, 50_000].map((files) => radius(commit(0, { added_data_files: files })));
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(new Set(sizes).size).toBe(4);
  });
  test('speaks in a sentence', () => {
    const burst = events.find((each) => each.snapshot_id === BURST_ID) as CommitEvent;
    expect(burst.t).toBe(BURST);
    expect(commitText(burst)).toBe('Append 03:04:12 UTC, +50,000 files, by application_12_0017');
  });
  test('says when files are not known, and when a commit is not on main', () => {
    const blind = commit(0, {
      added_data_files: null,
      removed_data_files: null,
      operation: null,
      on_main: false,
      app_id: null,
    });
    expect(commitText(blind)).toBe('Operation not read 00:00:00 UTC, files not read, not on main');
  });
});
