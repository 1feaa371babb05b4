import { expect, test } from 'vitest';
import { earlierAt, earlierOf } from './compare.ts';
import { story } from '#lib/timeline/fixtures/story.ts';
import type { SeriesLane } from '#lib/api/lanes.ts';

const answer = story({ step: 600 });
const lane = (id: string) => answer.lanes.find((each) => each.id === id) as SeriesLane;
const earlier = (id: string, more: object) => ({ ...lane(id), ...more }) as SeriesLane;
const known = answer.t.map((_, i) => (i === 2 ? null : i));

test('a lane is compared with its own past; failed or unrequested lanes are not drawn', () => {
  const then = earlier('data_files', { v: known });
  const compared = { ...answer, cmp: { table: null, seconds: 86_400, lanes: [then] } };
  expect(earlierOf(compared, lane('data_files'))).toBe(then);
  expect(earlierOf(compared, lane('freshness'))).toBeUndefined();
  expect(earlierOf(answer, lane('data_files'))).toBeUndefined();
  const failed = { ...then, status: 'error' as const };
  expect(
    earlierOf({ ...compared, cmp: { table: null, seconds: 60, lanes: [failed] } }, lane('data_files')),
  ).toBeUndefined();
});

test('a level held then as it does now; what was not known then stays not known', () => {
  const then = earlier('data_files', { v: known });
  const [t0, t1, t2] = answer.t as [number, number, number];
  expect(earlierAt(then, answer.t, t0)).toBe(0);
  expect(earlierAt(then, answer.t, t1 + 1000)).toBe(1);
  expect(earlierAt(then, answer.t, t2)).toBeNull();
});
