import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ALL_LANES, shownLanes, toggleLane } from './lanes.ts';

test('the lanes are those of the API, in its order', () => {
  const document = readFileSync(new URL('../api/openapi.json', import.meta.url), 'utf8');
  expect(document).toContain(`Comma-separated, of ${ALL_LANES.join(', ')}.`);
});
test('a lane is added in its place and taken away again', () => {
  const more = toggleLane(null, 'manifests');
  expect(more).toEqual([...shownLanes(null), 'manifests']);
  expect(toggleLane(more, 'manifests')).toBeNull();
  expect(toggleLane(null, 'alerts')?.[0]).toBe('job_duration');
});
test('the last lane stays', () => expect(toggleLane(['commits'], 'commits')).toEqual(['commits']));
