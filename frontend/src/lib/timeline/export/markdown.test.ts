import { expect, test } from 'vitest';
import { csvOf, queriesOf, summaryOf } from './markdown.ts';
import { BURST, BURST_ID, story } from '#lib/timeline/fixtures/story.ts';
import type { Answer } from '#lib/api/lanes.ts';

const answer = story({ step: 600 });
const rows = csvOf(answer).trimEnd().split('\r\n');

test('a row a step, instants in ISO and UTC, unknown is empty and never 0', () => {
  expect(rows).toHaveLength(answer.t.length + 1);
  expect(rows[0]).toMatch(/^time,job_duration \(seconds\),data_files/);
  expect(rows[1]).toMatch(/^2026-11-2\dT\d\d:\d\d:00Z,/);
  const last = rows.at(-1)?.split(',') ?? [];
  expect(last[2]).toBe('');
});

test('an id keeps all its digits and follows a word, so that no program rounds it', () => {
  const holding = rows.filter((row) => row.includes(BURST_ID));
  expect(holding).toHaveLength(1);
  expect(holding[0]).toContain(`append ${BURST_ID}`);
  expect(holding[0]).not.toMatch(new RegExp(`(^|,)"?${BURST_ID}`));
});

test('a name that is a formula, or holds a quote, is text in the spreadsheet', () => {
  const [first, ...others] = answer.lanes.filter((lane) => lane.kind === 'band');
  const hostile = { ...answer, lanes: [{ ...first, id: '=HYPERLINK("http://evil")', unit: '' }, ...others] };
  expect(csvOf(hostile as Answer)).toContain(`,"'=HYPERLINK(""http://evil"")"`);
});

test('the summary names table, time, the largest commits and the link, and no name becomes markup', () => {
  const text = summaryOf('lake.sales.<img src=x>*a*', '50,000 files', answer, 'https://here/t/x');
  expect(text).toContain('lake.sales.\\<img src=x\\>\\*a\\*');
  expect(text).toContain(`+50,000 files, \`${BURST_ID}\``);
  expect(text).toContain(new Date(BURST).toISOString().slice(11, 19));
  expect(text.trimEnd().endsWith('https://here/t/x')).toBe(true);
});

test('what a writer calls its operation is text in the summary too', () => {
  const lanes = answer.lanes.map((lane) =>
    lane.kind === 'events'
      ? { ...lane, events: lane.events.map((event) => ({ ...event, operation: '[pay](http://evil)' })) }
      : lane,
  );
  const text = summaryOf('t', '', { ...answer, lanes }, 'https://here/t/x');
  expect(text).toContain('\\[pay\\](http://evil)');
  expect(text).not.toContain('[pay](');
});

test('questions are those of the lanes, in their language', () => {
  const asked = {
    ...answer,
    lanes: answer.lanes.map((lane, i) => ({ ...lane, query: i === 1 ? { promql: 'up', sql: null } : null })),
  } as Answer;
  expect(queriesOf(asked).map(({ language, text }) => [language, text])).toEqual([['PromQL', 'up']]);
});
