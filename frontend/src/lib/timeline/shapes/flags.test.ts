import { expect, test } from 'vitest';
import { BURST_ID, BURST, DAY, NOW, story } from '#lib/timeline/fixtures/story.ts';
import { flagText, placedFlags } from './flags.ts';
import { commitsOf, type Answer, type EventsLane } from '#lib/api/lanes.ts';
import { timeScale } from '#lib/timeline/axes/scale.ts';
import { signsOf } from './signs.ts';

const scale = timeScale(DAY, NOW, 720);
const flag = (t: number, ref: string, to: string | null = '1', type: 'branch' | 'tag' = 'branch') => ({
  ...{ t, ref, type, snapshot_id: to },
});

test('a flag says what became of its ref', () => {
  expect(flagText(flag(BURST, 'main'))).toBe('main rolled back at 03:04:12');
  expect(flagText(flag(BURST, 'v1', null, 'tag'))).toBe('tag v1 removed at 03:04:12');
  expect(flagText(flag(BURST, 'audit'))).toBe('branch audit set at 03:04:12');
});
test('flags in range are placed; a name without room is left out', () => {
  const placed = placedFlags([flag(DAY - 1, 'old'), flag(BURST, 'audit'), flag(BURST + 60_000, 'v1')], scale);
  expect(placed.map(({ name }) => name)).toEqual(['', 'v1']);
  expect(placed[0]?.px).toBeCloseTo(scale.px(BURST));
});

const changed = (change: Partial<EventsLane>, answer = story()): Answer => ({
  ...answer,
  lanes: answer.lanes.map((lane) => (lane.kind === 'events' ? { ...lane, ...change } : lane)),
});
const looks = (answer: Answer, noted: string | null = null) => signsOf(answer, noted).map(({ text }) => text);

test('the legend has the signs that are drawn, and no others', () => {
  const onMain = commitsOf(story()).map((commit) => ({ ...commit, on_main: true }));
  expect(looks(changed({ events: onMain }))).toEqual([]);
  expect(looks(story(), BURST_ID)).toEqual(['not on main', 'suspect']);
  expect(looks(changed({ off_ref: [BURST_ID], flags: [flag(BURST, 'audit')] }))).toEqual([
    'not on the chosen ref',
    'ref moved',
  ]);
  expect(looks(changed({ off_ref: [] }))).toEqual([]);
});
