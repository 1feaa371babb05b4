import { expect, test } from 'vitest';
import { BURST_ID, story } from '#lib/timeline/fixtures/story.ts';
import type { Lane } from '#lib/api/lanes.ts';
import { graphHref } from '#lib/timeline/export/prometheus.ts';
import { csvOfLane, recordsOf } from './records.ts';

const answer = story();
const lane = (id: string) => answer.lanes.find((each) => each.id === id) as Lane;

test('a series is a row a step, in its unit; what is not known is an empty cell, never a zero', () => {
  const lines = csvOfLane(answer, lane('data_files')).trim().split('\r\n');
  expect(lines[0]).toBe('time,value (files)');
  expect(lines).toHaveLength(answer.t.length + 1);
  expect(lines[1]).toMatch(/^2026-11-21T00:00:00Z,\d+$/);
  expect(lines.at(-1)).toMatch(/Z,$/); // beyond the watermark
});
test('bands name their columns', () => {
  expect(recordsOf(answer, lane('file_size')).head).toEqual([
    'time',
    'p10 (bytes)',
    'p50 (bytes)',
    'p90 (bytes)',
  ]);
  expect(recordsOf(answer, lane('job_duration')).head[1]).toBe('least (seconds)');
});
test('a commit keeps all digits of its id as text', () => {
  const { head, rows } = recordsOf(answer, lane('commits'));
  const burst = rows.find((row) => row.includes(`id ${BURST_ID}`));
  expect(burst?.[head.indexOf('files added')]).toBe(50_000);
});
test('spans have both ends; one that goes on has none', () => {
  const { head, rows } = recordsOf(answer, lane('schema'));
  expect(head).toEqual(['from', 'until', 'name', 'state', 'detail']);
  expect(rows.at(-1)?.[1]).toBeNull();
});

test("Prometheus' page asks the same question over the same window and at the same step", () => {
  const range = { from: Date.UTC(2026, 10, 21), to: Date.UTC(2026, 10, 21, 6), step: 30 };
  const link = new URL(graphHref('https://metrics.example/prom/', 'max(a{b="c&d"})', range) ?? '');
  expect(link.origin + link.pathname).toBe('https://metrics.example/prom/graph');
  expect(Object.fromEntries(link.searchParams)).toEqual({
    'g0.expr': 'max(a{b="c&d"})',
    'g0.tab': '0',
    'g0.range_input': '21600s',
    'g0.end_input': '2026-11-21 06:00:00',
    'g0.step_input': '30',
  });
  expect(graphHref('javascript:alert(1)', 'up', range)).toBeNull();
});
