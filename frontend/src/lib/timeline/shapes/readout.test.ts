import { describe, expect, test } from 'vitest';
import { heldAt, lastIndex, sampledAt } from './bisect.ts';
import { BURST, DAY, NOW, WATERMARK, story } from '#lib/timeline/fixtures/story.ts';
import { commitsOf, type Answer, type Lane, type SeriesLane } from '#lib/api/lanes.ts';
import { lookOf } from './lane-style.ts';
import { stepTimes } from './path.ts';
import { readAt, summaryOf, type Times } from './readout.ts';

const answer = story();
const times = (of: Answer): Times => ({
  t: of.t,
  held: stepTimes(of.t, commitsOf(of)),
  end: of.watermark ?? NOW,
});
const lane = (id: string) => answer.lanes.find((each) => each.id === id) as Lane;
const read = (id: string, at: number) => readAt(lane(id), lookOf(lane(id)), times(answer), at).text;

describe('bisect', () => {
  test('finds the newest at or before', () => {
    expect([5, 10, 15, 30, 99].map((at) => lastIndex([10, 20, 30], at))).toEqual([-1, 0, 0, 2, 2]);
  });
  test('a level holds; it has no value before its first and after the end', () => {
    const at = (x: number) => heldAt([10, 20, 30], [1, null, 3], x, 35);
    expect([5, 10, 19, 25, 34, 36].map(at)).toEqual([null, 1, 1, null, 3, null]);
  });
  test('a sample is the nearest, never one in between, never one far away', () => {
    const at = (x: number) => sampledAt([10, 20, 30], [1, null, 3], x);
    expect([9, 14, 16, 26, 39, 41].map(at)).toEqual([1, 1, null, 3, 3, null]);
  });
});

describe('reading', () => {
  test('data files change at the second of the commit', () => {
    expect([read('data_files', BURST - 1000), read('data_files', BURST)]).toEqual(['1,202', '51,202']);
  });
  test('the job is slow after it, and a gap is no zero', () => {
    expect(read('job_duration', DAY + 2 * 3_600_000)).toMatch(/^5\d s$/);
    expect(read('job_duration', DAY + 4 * 3_600_000)).toMatch(/^1[56]\d s$/);
    expect(read('job_duration', DAY + 104 * 60_000)).toBe('no sample');
  });
  test('metadata right of the watermark is not read, jobs are', () => {
    expect(
      ['data_files', 'file_size', 'commits', 'schema'].map((id) => read(id, WATERMARK + 60_000)),
    ).toEqual(Array(4).fill('not read'));
    expect(read('job_duration', WATERMARK + 60_000)).toMatch(/ s$/);
  });
  test('events and versions speak in words', () => {
    expect([read('commits', BURST + 1000), read('schema', BURST), read('job_runs', BURST)]).toEqual([
      'append',
      's13',
      'idle',
    ]);
  });
  test('a value of null is never printed as zero', () => {
    for (const each of answer.lanes.filter((l): l is SeriesLane => 'v' in l || 'mid' in l)) {
      const empty = {
        ...each,
        ...('mid' in each ? { mid: each.mid.map(() => null) } : { v: each.v.map(() => null) }),
      };
      const { text, value } = readAt(empty, lookOf(each), times(answer), BURST);
      expect([value, /\d/.test(text)]).toEqual([null, false]);
    }
  });
});

describe('summary', () => {
  test('gives least, most and last with their times', () => {
    expect(summaryOf(lane('data_files'), lookOf(lane('data_files')), answer.t)).toMatch(
      /lowest 1,\d{3} at .*highest 51,\d{3} at .*last [\d,]+ at 05:46 UTC/,
    );
  });
  test('names the largest commit', () => {
    expect(summaryOf(lane('commits'), lookOf(lane('commits')), answer.t)).toContain(
      'Append 03:04:12 UTC, +50,000 files',
    );
  });
  test('of nothing known says so', () => {
    const empty = { ...lane('data_files'), v: answer.t.map(() => null) } as Lane;
    expect(summaryOf(empty, lookOf(empty), answer.t)).toBe('Data files: no value in this range.');
  });
  test('of a failed lane says why', () => {
    const problem = {
      type: 'source-timeout',
      title: 'Prometheus is slow',
      detail: 'Prometheus did not answer in 8 s.',
    };
    const failed = { ...lane('job_duration'), status: 'error', problem } as Lane;
    expect(summaryOf(failed, lookOf(failed), answer.t)).toBe('Prometheus did not answer in 8 s.');
  });
});

test('M8: a pending alert is not counted as firing', () => {
  const bar = (label: string, state: string) => ({ start: 0, end: null, label, state, detail: null });
  const told = (bars: object[]) => {
    const shown = { ...lane('alerts'), status: 'ok', bars } as Lane;
    const { text, note } = readAt(shown, lookOf(shown), { t: [], held: new Float64Array(), end: 9 }, 5);
    return [text, note];
  };
  expect(told([bar('A', 'firing'), bar('B', 'pending')])).toEqual(['1 firing', '1 pending']);
  expect(told([bar('A', 'pending')])).toEqual(['1 pending', '']);
  expect(told([bar('A', 'resolved'), bar('B', 'firing'), bar('C', 'firing')])).toEqual([
    '2 firing',
    '1 fired',
  ]);
  expect(told([])).toEqual(['none', '']);
});
