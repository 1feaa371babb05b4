import { expect, test } from 'vitest';
import { withinBudget } from './budget.ts';
import { risksMarkdown, tableRisksMarkdown } from './export.ts';
import { NOW, risk } from './fixtures.ts';
import {
  ANY,
  choiceOf,
  cursorHref,
  forecastsHref,
  forecastsQuestion,
  isNarrowed,
  unreadOf,
} from './question.ts';
import {
  betweenWords,
  fanSentence,
  hasRecord,
  horizon,
  levelWords,
  odds,
  riskSentence,
  riskText,
  trackSentence,
  whatIfSentence,
  whyWords,
} from './sentence.ts';
import { bytesSentence, costSentence, coverageSentence } from './size.ts';
import { staleSentence } from './stale.ts';
import { forecastTimelinePath, metricWord, modelWords, tableForecastPath, type RiskRow } from './words.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const params = (text: string) => new URLSearchParams(text);

test('one sentence has range, odds, cause and what maintenance would change', () =>
  expect(riskText(risk(), NOW)).toBe(
    'Small files will probably pass 10,000 between Tue and Thu (7 of 10). Why: 1,900 a day come in, the compaction ' +
      'that came every 24 h is 60 h overdue. With compaction now: 1 of 10.',
  ));

test.each<[number, string]>([
  ...([
    [0, 'less than 1 of 20'],
    [0.05, '1 of 10'],
    [0.5, '5 of 10'],
    [0.95, '9 of 10'],
  ] as [number, string][]),
  [1, 'more than 19 of 20'],
])('odds of %s', (p, text) => expect(odds(p)).toBe(text));

test('a crossing is a range, never a single date', () => {
  expect(betweenWords(NOW - HOUR, NOW + DAY, NOW)).toBe('between now and Sun');
  expect(betweenWords(NOW + 2 * HOUR, NOW + 9 * HOUR, NOW)).toBe('between Sat 08:00 and Sat 15:00');
  expect(betweenWords(NOW + 4 * DAY, NOW + 7 * DAY, NOW)).toBe('between 25 Nov and 28 Nov');
});

test('no date where a crossing is less likely than not', () => {
  const row = risk({ p_cross: 0.36, crosses_from: null, crosses_to: null });
  expect(riskSentence(row, NOW)).toBe('Small files could pass 10,000 within 7 days (4 of 10).');
  // dates that come along are not shown either
  expect(riskSentence(risk({ p_cross: 0.49 }), NOW)).not.toMatch(/between|Tue/);
});

test.each<[Partial<RiskRow>, string]>([
  [{ state: 'red', level: 12_300 }, 'Small files have passed 10,000: 12,300 now.'],
  [
    { state: 'red', metric: 'metadata_bytes', threshold: 5e7, level: 6e7 },
    'The metadata file has passed 50 MB: 60 MB now.',
  ],
  [{ state: 'cannot_say', abstained: 'short_history' }, 'Cannot say, because its history is too short.'],
  [
    { state: 'not_at_risk', p_cross: 0.02, crosses_from: null, crosses_to: null },
    'Small files will probably stay below 10,000 for the next 7 days (more than 19 of 20).',
  ],
  [
    { metric: 'reader_seconds', job_name: 'churn', threshold: 900 },
    'The duration of churn will probably pass 15 m between Tue and Thu (7 of 10).',
  ],
])('%j', (change, text) => expect(riskSentence(risk(change), NOW)).toBe(text));

test('the cause: growth is named growth, a rhythm in time is not overdue, what is unknown is left out', () => {
  const quiet = { growth_per_day: null, usual_drop_hours: null, last_drop_hours: null } as const;
  const read = { metric: 'reader_seconds', driver: 'total_bytes' } as const;
  expect(whyWords(risk({ ...quiet, ...read }))).toBe('the table itself grows, which is not damage');
  expect(whyWords(risk({ ...quiet, driver: 'load', metric: 'reader_seconds' }))).toBe(
    'the strongest driver is the load of the cluster',
  );
  expect(whyWords(risk({ growth_per_day: 0.2, last_drop_hours: 20 }))).toBe(
    'the last compaction was 20 h ago, they come every 24 h',
  );
  expect(whyWords(risk(quiet))).toBeNull();
  expect(whyWords(risk({ state: 'cannot_say' }))).toBeNull();
});

test('what maintenance would change, also where it is nothing, and nothing where it is not known', () => {
  expect(whatIfSentence(risk({ metric: 'live_snapshots' }))).toBe('With an expiry now: 1 of 10.');
  expect(whatIfSentence(risk({ p_cross_if_maintained: 0.7 }))).toBe(
    'With compaction now: 7 of 10, so it would change little.',
  );
  expect(whatIfSentence(risk({ p_cross_if_maintained: null }))).toBeNull();
});

test('levels have their interval and their unit', () => {
  expect(levelWords(risk())).toBe('4,300 now; 8,900 to 14,200 in 7 days (8 of 10)');
  expect(levelWords(risk({ level: null, metric: 'skew_max_over_median', p10: 2, p90: 8.25 }))).toBe(
    '2.0× to 8.3× in 7 days (8 of 10)',
  );
  expect(levelWords(risk({ level: null, p10: null }))).toBeNull();
  expect([horizon(24), horizon(36), horizon(168)]).toEqual(['24 h', '36 h', '7 days']);
});

test('the track record leaves out what was acted upon', () => {
  const record = {
    ...{ since: NOW - 60 * DAY, warnings: 44, came_true: 31, did_not: 9, acted_upon: 4, pending: 0 },
    ...{ median_notice_hours: 37, not_foreseen: 12 },
  };
  expect(trackSentence(record)).toBe(
    'Of the last 40 warnings 31 came true, median notice 37 h; 12 crossings were not foreseen; 4 warnings were ' +
      'acted upon.',
  );
  const young = {
    ...record,
    warnings: 1,
    came_true: 0,
    did_not: 0,
    acted_upon: 0,
    pending: 1,
    not_foreseen: 1,
  };
  expect(trackSentence({ ...young, median_notice_hours: null })).toBe(
    'No warning has an outcome yet; 1 crossing was not foreseen; 1 warning is still open.',
  );
  expect(hasRecord({ ...record, warnings: 0, not_foreseen: 0 })).toBe(false);
});

test('bytes and money have an interval; growth is said as growth', () => {
  const size = {
    ...{ hours: 720, bytes_now: 1.2e12, bytes_p10: 1.3e12, bytes_p50: 2.4e12, bytes_p90: 3e12 },
    ...{
      cost_now: 20,
      cost_p10: 22,
      cost_p50: 40,
      cost_p90: 50.5,
      currency: 'EUR',
      tables: 8,
      tables_known: 9,
    },
  };
  expect(bytesSentence(size)).toBe(
    '1.2 TB now; 1.3 TB to 3.0 TB in 30 days (8 of 10), at the median 2 times the data.',
  );
  expect(bytesSentence({ ...size, bytes_p50: 1.08e12 })).toMatch(/at the median 10 % less data\.$/);
  expect(costSentence(size)).toBe('20.00 EUR a month now; 22.00 to 50.50 EUR a month then (8 of 10).');
  expect(costSentence({ ...size, cost_p50: null, currency: null })).toBeNull();
  expect(bytesSentence({ ...size, bytes_p10: null })).toBeNull();
  expect(coverageSentence(size)).toMatch(/^8 of 9 tables/);
  expect(coverageSentence({ ...size, tables: 9 })).toBeNull();
});

test('a forecast older than two days is called old', () => {
  expect(staleSentence(NOW - 47 * HOUR, NOW)).toBeNull();
  expect(staleSentence(null, NOW)).toBeNull();
  expect(staleSentence(NOW - 3 * DAY, NOW)).toMatch(/^The forecast is 3 d old, of 18 Nov 2026, 06:00:00 UTC/);
});

test('the budget counts tables, not metrics', () => {
  const rows = ['a', 'b', 'a', 'c'].map((table) => risk({ table }));
  const [first, others] = withinBudget(rows, 2);
  expect([first.map(({ table }) => table), others.map(({ table }) => table)]).toEqual([
    ['a', 'b', 'a'],
    ['c'],
  ]);
});

test('the address and the choice are the same, defaults stay out, and a change starts at the first page', () => {
  expect(choiceOf(params('state=red&metric=manifests&owner=core&table=a.b.c'))).toEqual({
    ...{ state: 'red', metric: 'manifests', owner: 'core', table: 'a.b.c' },
  });
  expect(choiceOf(params('state=x&metric=x'))).toEqual({ ...ANY, state: 'at_risk' });
  expect(forecastsHref(params('cursor=9&tz=UTC&state=red'), { owner: 'core', state: 'at_risk' })).toBe(
    '/forecasts?tz=UTC&owner=core',
  );
  expect(cursorHref(params('state=red'), 'abc')).toBe('/forecasts?state=red&cursor=abc');
  expect(unreadOf(params('state=x&metric=manifests'))).toEqual(['state']);
  expect(isNarrowed(choiceOf(params('state=red')))).toBe(false);
  expect(forecastsQuestion(choiceOf(params('metric=manifests')), 'x')).toEqual({
    ...{ limit: 50, state: 'at_risk', metric: 'manifests', cursor: 'x' },
  });
});

test('as Markdown: each table with its sentence; names stay text', () => {
  const about = { asOf: NOW - HOUR, link: 'https://x/forecasts', now: NOW };
  const lines = risksMarkdown('at_risk', [risk({ table: '*orders*' })], about).split('\n');
  expect(lines[0]).toBe('**At risk**, forecast of 21 Nov 2026, 05:00:00 UTC');
  expect(lines[2]).toMatch(
    /^- lake\.sales\.\\\*orders\\\*: Small files will probably pass 10,000 between Tue/,
  );
  expect(lines.at(-2)).toBe('https://x/forecasts');
  const row = risk({ state: 'cannot_say', abstained: 'stale', metric: 'manifests' });
  expect(tableRisksMarkdown([row], about)).toContain(
    '- Cannot say: manifests: Cannot say, because nothing new is known of it.',
  );
});

test('the fan in words, and where a forecast is shown', () => {
  const points = [0, 1, 7].map((days) => ({
    at: NOW + days * DAY,
    p10: 100 * days,
    p50: 150,
    p90: 200 + days,
  }));
  const fan = {
    ...{
      metric: 'manifests' as const,
      job_name: null,
      lane: 'manifests',
      threshold: 500,
      points,
      last_drops: [],
    },
    abstained: null,
  };
  expect(fanSentence(fan)).toBe(
    '150 at the time of the forecast; 100 to 201 in 24 h, 700 to 207 in 7 days (8 of 10); threshold 500.',
  );
  expect(tableForecastPath(risk())).toBe('/t/lake/sales/orders/forecast');
  expect(forecastTimelinePath(risk())).toBe('/t/lake/sales/orders?from=now-7d&to=now%2B7d');
  expect(metricWord('metadata_bytes')).toBe('metadata file');
});

test('what made the forecasts is said in words', () =>
  expect(['own-2026-11-27-1500-tables', 'shipped-1920-tables', 'mine', null].map(modelWords)).toEqual([
    'a model that was trained on 1,500 of your tables on 2026-11-27',
    'the model that ships with Limnograph',
    'the model mine',
    null,
  ]));
