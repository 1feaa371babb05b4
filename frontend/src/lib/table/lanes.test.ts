import { expect, test } from 'vitest';
import { LANE_KINDS } from '#lib/api/lane-specs.ts';
import { story } from '#lib/timeline/fixtures/story.ts';
import {
  ALL_LANES,
  DEFAULT_LANES,
  askedLanes,
  hasAxis,
  inOrder,
  isLog,
  listedLanes,
  moveLane,
  shownLanes,
  toggleLane,
  toggleLog,
  topLane,
} from './lanes.ts';

test('a recorded answer has the default lanes, each of the kind that is declared', () => {
  const { lanes } = story();
  const recorded = DEFAULT_LANES.filter((lane) => lane !== 'maintenance');
  expect(lanes.map(({ id }) => id)).toEqual(recorded);
  expect(lanes.map(({ kind }) => kind)).toEqual(recorded.map((lane) => LANE_KINDS[lane]));
});
test('maintenance is shown unasked only where an action ran in the range', () => {
  const answer = story();
  const head = { id: 'maintenance', kind: 'bars', unit: 'actions', source: 'meta', bars: [] } as const;
  const withLane = (status: 'ok' | 'absent') =>
    ({ ...answer, lanes: [...answer.lanes, { ...head, status }] }) as typeof answer;
  const ids = (found: typeof answer) => found.lanes.map(({ id }) => id);
  expect(ids(inOrder(withLane('absent'), null))).toEqual(ids(answer));
  expect(ids(inOrder(withLane('ok'), null))).toContain('maintenance');
  expect(ids(inOrder(withLane('absent'), ['maintenance']))).toEqual(['maintenance']);
});
test('a lane is added in its place and taken away again', () => {
  const more = toggleLane(null, 'manifests');
  expect(more).toEqual([...shownLanes(null), 'manifests']);
  expect(toggleLane(more, 'manifests')).toBeNull();
  expect(toggleLane(null, 'alerts')?.[0]).toBe('job_duration');
});
test('the last lane stays', () => expect(toggleLane(['commits'], 'commits')).toEqual(['commits']));

test('a lane is moved by one place and stops at the ends', () => {
  const moved = moveLane(null, 'job_duration', -1);
  expect(moved?.slice(0, 3)).toEqual(['job_duration', 'alerts', 'job_runs']);
  expect(moveLane(moved, 'job_duration', -1)).toBe(moved);
  expect(moveLane(moved, 'job_duration', 1)).toBeNull();
  expect(moveLane(null, 'bytes', 1)).toBeNull();
});
test('in a list that was reordered a new lane comes last, and the menu lists what is shown first', () => {
  const lanes = toggleLane(['freshness', 'commits'], 'alerts');
  expect(lanes).toEqual(['freshness', 'commits', 'alerts']);
  expect(listedLanes(lanes)).toHaveLength(ALL_LANES.length);
  expect(listedLanes(lanes).slice(0, 4)).toEqual(['freshness', 'commits', 'alerts', 'job_duration']);
});
test('another order is no other question to the server', () => {
  expect(askedLanes(moveLane(null, 'commits', 1))).toBeFalsy();
  expect(askedLanes(['freshness', 'commits', 'a_new_one'])).toBe('commits,freshness,a_new_one');
});
test('an answer is drawn in the order of the reader, without what was hidden since', () => {
  const ids = inOrder(story(), ['freshness', 'debt', 'commits']).lanes.map(({ id }) => id);
  expect(ids).toEqual(['freshness', 'commits']);
});
test('a lane goes to the top; the topmost stays where it is', () => {
  expect(topLane(null, 'freshness')?.slice(0, 2)).toEqual(['freshness', 'alerts']);
  expect(topLane(null, 'alerts')).toBeNull();
});
test('file sizes default to a logarithmic axis; a choice equal to the default is dropped', () => {
  expect([isLog(null, 'file_size'), isLog(null, 'data_files')]).toEqual([true, false]);
  const more = toggleLog(null, 'data_files');
  expect(more).toEqual(['data_files', 'file_size']);
  expect(toggleLog(more, 'data_files')).toBeNull();
  expect(toggleLog(null, 'file_size')).toEqual([]);
  const without = ALL_LANES.filter((lane) => !hasAxis(lane));
  expect(without).toEqual(['alerts', 'job_runs', 'maintenance', 'commits', 'schema']);
});
