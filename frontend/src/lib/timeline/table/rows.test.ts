import { expect, test } from 'vitest';
import { BURST_ID, DAY, NOW, story } from '#lib/timeline/fixtures/story.ts';
import { frameOf } from '#lib/timeline/shapes/frame.ts';
import type { Lane, SeriesLane } from '#lib/api/lanes.ts';
import { ROWS_A_PAGE, columnsOf, rowsOf } from './rows.ts';
import { timeScale } from '#lib/timeline/axes/scale.ts';

const answer = story({ step: 60 });
const frame = frameOf(answer, timeScale(DAY, NOW, 700), NOW);
const pages = Math.ceil(answer.t.length / ROWS_A_PAGE);
const all = Array.from({ length: pages }, (_, page) => rowsOf(answer, frame, page)).flat();

test('every step has a row, 25 a page', () => {
  expect(all.map((row) => row.at)).toEqual(answer.t);
  expect(rowsOf(answer, frame, 0)).toHaveLength(ROWS_A_PAGE);
  expect(rowsOf(answer, frame, pages - 1).length).toBeLessThanOrEqual(ROWS_A_PAGE);
});
test('every commit is in exactly one row, its id as text with all digits', () => {
  const listed = all.flatMap((row) => row.commits);
  const lane = answer.lanes.find((each) => each.kind === 'events');
  expect(listed).toHaveLength(lane?.kind === 'events' ? lane.events.length : NaN);
  expect(listed.filter((text) => text.includes(BURST_ID))).toEqual([`Append 03:04:12 +50,000 ${BURST_ID}`]);
});
test('after the watermark metadata reads "not read", and absent lanes have no column', () => {
  const titles = columnsOf(answer).map((column) => column.id);
  expect(titles).toEqual(['job_duration', 'data_files', 'file_size', 'delete_files', 'freshness']);
  expect(all.at(-1)?.cells.slice(1)).toEqual(Array(4).fill('not read'));
});

test('the compared period has a column beside each lane', () => {
  const lane = answer.lanes.find((each) => each.id === 'data_files') as SeriesLane;
  const then = { ...lane, v: answer.t.map(() => 777) } as SeriesLane;
  const compared = { ...answer, cmp: { table: null, seconds: 86_400, lanes: [then] } };
  const titles = columnsOf(compared).map((column) => column.title);
  expect(titles.slice(1, 3)).toEqual(['Data files', 'Data files 1 d earlier']);
  expect(rowsOf(compared, frame, 0)[3]?.cells[2]).toBe('777');
});

test('alerts are named in the rows that they cover, open ones to the last', () => {
  const bar = { label: 'TooManyFiles', detail: null };
  const [a, b] = [answer.t[3] as number, answer.t[6] as number];
  const lanes = answer.lanes.map((lane) =>
    lane.id === 'alerts'
      ? ({
          ...lane,
          ...{ kind: 'bars', status: 'ok' },
          bars: [
            { ...bar, start: a, end: b, state: 'pending' },
            { ...bar, start: b, end: null, state: 'firing' },
          ],
        } as Lane)
      : lane,
  );
  const rows = rowsOf({ ...answer, lanes }, frame, 0).map((row) => row.cells.at(-1));
  expect(rows.slice(2, 7)).toEqual(['', ...Array(3).fill('TooManyFiles pending'), 'TooManyFiles firing']);
  expect(rows.at(-1)).toBe('TooManyFiles firing');
});
