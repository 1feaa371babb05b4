// The median run beside a job's line: everywhere that the line itself is told, and nowhere without one.
import { expect, test } from 'vitest';
import { csvOf } from '#lib/timeline/export/markdown.ts';
import { DAY, NOW, story } from './fixtures/story.ts';
import { frameOf, timesOf } from '#lib/timeline/shapes/frame.ts';
import type { Answer, Lane } from '#lib/api/lanes.ts';
import { lookOf } from '#lib/timeline/shapes/lane-style.ts';
import { pictureOf } from '#lib/timeline/export/picture.ts';
import { readAt, summaryOf } from '#lib/timeline/shapes/readout.ts';
import { recordsOf } from '#lib/timeline/table/records.ts';
import { columnsOf, rowsOf } from '#lib/timeline/table/rows.ts';
import { timeScale } from '#lib/timeline/axes/scale.ts';
import { signsOf } from '#lib/timeline/shapes/signs.ts';
import { spokenAt } from '#lib/timeline/shapes/spoken.ts';
import { valuesOf } from '#lib/timeline/shapes/values.ts';

const HOUR = 3_600_000;
const plain = story({ step: 600 });
/** Nothing is known of it in the first hour. */
const column = plain.t.map((t) => (t < DAY + HOUR ? null : 54));
const answer: Answer = {
  ...plain,
  lanes: plain.lanes.map((lane) =>
    lane.id === 'job_duration' ? ({ ...lane, median: column } as Lane) : lane,
  ),
};
const jobOf = (of: Answer) =>
  of.lanes.find(({ id }) => id === 'job_duration') as Extract<Lane, { kind: 'band' }>;
const [job, other] = [jobOf(answer), jobOf(plain)];
const look = lookOf(job);
const times = timesOf(answer);

test('it is beside the value at the cursor, and absent where it is unknown', () => {
  expect(readAt(job, look, times, DAY + 4 * HOUR)).toMatchObject({
    text: expect.stringMatching(/^1\d\d s$/),
    note: 'median 54 s',
  });
  expect(readAt(job, look, times, DAY + HOUR / 2).note).toBe('');
  expect(readAt(other, look, times, DAY + 4 * HOUR).note).toBe('');
});

test('it is said aloud', () => {
  expect(spokenAt(answer, times, DAY + 4 * HOUR)).toMatch(/job duration 1\d\d s, median 54 s, data files/);
  expect(spokenAt(answer, times, DAY + HOUR / 2)).not.toContain('median');
  expect(summaryOf(job, look, answer.t)).toMatch(
    /Median of the latest runs: lowest 54 s at 01:00, highest 54 s/,
  );
  expect(summaryOf(other, look, plain.t)).not.toContain('Median');
});

test('tables and files have a column of it, and an empty cell where it is not known', () => {
  expect(columnsOf(answer).map(({ title }) => title)[1]).toBe('Job duration, median');
  expect(columnsOf(plain).map(({ title }) => title)[1]).toBe('Data files');
  const rows = rowsOf(answer, frameOf(answer, timeScale(DAY, NOW, 700), NOW), 0);
  expect([rows[0]?.cells[1], rows[6]?.cells[1]]).toEqual(['unknown', '54 s']);
  const { head, rows: records } = recordsOf(answer, job);
  expect([head.at(-1), records[0]?.at(-1), records[6]?.at(-1)]).toEqual(['median (seconds)', null, 54]);
  const [first, begin, ...more] = csvOf(answer).split('\r\n');
  expect(first).toMatch(/^time,job_duration \(seconds\),job_duration median \(seconds\),data_files/);
  expect([begin?.split(',')[2], more[5]?.split(',')[2]]).toEqual(['', '54']);
  expect(csvOf(plain)).not.toContain('median');
});

test('the axis has room for it, the legend names it, the picture draws it', () => {
  const room = { height: 120, compact: false, withDeltas: false };
  const high = { ...job, median: column.map((value) => value && 900) };
  expect(valuesOf(high, look, room).y(900)).toBeGreaterThan(0);
  expect(valuesOf(job, look, room).y(900)).toBeLessThan(0);
  expect(signsOf(answer, null).map(({ look: drawn }) => drawn)).toContain('median');
  expect(signsOf(plain, null).map(({ look: drawn }) => drawn)).not.toContain('median');
  const shown = { now: NOW, title: 'orders', link: 'https://example.org' };
  expect(pictureOf({ ...shown, answer }).svg).toContain('thin: median run');
  expect(pictureOf({ ...shown, answer: plain }).svg).not.toContain('median run');
});
