import { describe, expect, test } from 'vitest';
import { EACH, ledgerRow } from './fixtures.ts';
import {
  changeWords,
  claimBounds,
  moreRunsWords,
  operationSentence,
  reasonWords,
  remarksOf,
  shortWords,
  signedBounds,
  signedPercent,
  sinceCommitSentence,
} from './sentence.ts';

const LAST = 'the last compaction of this table';
const effect = (ratio: number | null, low: number | null, high: number | null, more = {}) =>
  ledgerRow({ ratio, ratio_low: low, ratio_high: high, ...more });

test('an incident has a sentence for each verdict', () => {
  expect(EACH.map((row) => operationSentence(LAST, row))).toEqual([
    'The last compaction of this table made churn 14 % faster (8 to 19 %).',
    'The last compaction of this table made slow 18 % slower (8 to 29 %).',
    'The last compaction of this table made no measurable change to same, within ±5 % (−2 % to +3 %).',
    'The effect of the last compaction of this table on open is not known yet: between −12 % and +9 %; 9 more runs would probably show it.',
    'The effect of the last compaction of this table on both is confounded: another overwrite with at most one run between.',
    'The effect of the last compaction of this table on alone is not separable from other changes: the controls disagree about that time.',
    'No data yet on the effect of the last compaction of this table on fresh: 3 of 8 runs so far.',
  ]);
});

test('a commit, which may be no maintenance, is not said to have caused what followed', () => {
  expect(EACH.map(sinceCommitSentence)).toEqual([
    'churn is 14 % faster since the commit (8 to 19 %)',
    'slow is 18 % slower since the commit (8 to 29 %)',
    'same: no measurable change, within ±5 % (−2 % to +3 %)',
    'open: not known yet, between −12 % and +9 %; 9 more runs would probably show it',
    'both: confounded by another change, another overwrite with at most one run between',
    'alone: not separable from other changes, the controls disagree about that time',
    'fresh: no data yet, 3 of 8 runs so far',
  ]);
});

describe('each measure has its own words', () => {
  const said = (more: Parameters<typeof ledgerRow>[0]) =>
    operationSentence('this compaction', ledgerRow(more));
  const slower = { verdict: 'worse', ratio: 3.1, ratio_low: 2.9, ratio_high: 3.3 } as const;

  test('planning is shorter or longer, of all scans or of a job', () => {
    expect(said({ measure: 'planning', job_name: '' })).toBe(
      'This compaction made planning 14 % shorter (8 to 19 %).',
    );
    expect(said({ ...slower, measure: 'planning' })).toBe(
      'This compaction made planning for churn take 3.1 times as long (2.9 to 3.3 times).',
    );
  });

  test('files are fewer or more', () => {
    expect(said({ measure: 'files', job_name: '' })).toBe(
      'This compaction made scans open 14 % fewer files (8 to 19 %).',
    );
    expect(said({ ...slower, measure: 'files' })).toBe(
      'This compaction made churn open 3.1 times as many files (2.9 to 3.3 times).',
    );
    expect(sinceCommitSentence(ledgerRow({ measure: 'files', job_name: '' }))).toBe(
      'scans open 14 % fewer files since the commit (8 to 19 %)',
    );
  });

  test('a job that takes twice as long is not 100 % slower', () => {
    expect(said({ ...slower, ratio: 2, ratio_low: 1.2, ratio_high: null })).toBe(
      'This compaction made churn take 2 times as long (at least 1.2 times).',
    );
    expect(sinceCommitSentence(ledgerRow(slower))).toBe(
      'churn takes 3.1 times as long since the commit (2.9 to 3.3 times)',
    );
  });
});

test('bounds of a verdict are on its side, open where nothing bounds them', () => {
  expect(claimBounds(effect(0.7, null, 0.9))).toBe('at least 10 %');
  expect(claimBounds(effect(1.6, 1.2, null))).toBe('at least 20 %');
  expect(claimBounds(effect(1.6, 1.2, 12))).toBe('20 % to 12 times');
  expect(claimBounds(effect(30, 20, 45))).toBe('20 to 45 times');
  expect(claimBounds(effect(0.7, null, null))).toBeNull();
  expect(signedBounds(effect(1.1, null, 1.09))).toBe('at most +9 %');
  expect(signedBounds(effect(1.1, 0.88, null))).toBe('at least −12 %');
  expect(signedBounds(effect(1.1, null, null))).toBeNull();
});

test.each([
  [0.8597, '−14 %'],
  [0.996, '−0.4 %'],
  [0.02, '−98 %'],
  [0.0004, '−99.9 %'],
  [1.00001, '0 %'],
  [1.0904, '+9 %'],
  [30, '+2,900 %'],
])('a ratio of %d is %s', (ratio, text) => expect(signedPercent(ratio)).toBe(text));

test('a bound just beside no change is not rounded to it', () =>
  expect(claimBounds(effect(0.93, 0.88, 0.998))).toBe('0.2 to 12 %'));

test('without a verdict a size is never claimed, only bounds and the reason', () => {
  for (const row of EACH.slice(3)) {
    expect(changeWords(row)).toBeNull();
    expect(shortWords(row)).toMatch(/^(not known yet|confounded|not separable|no data yet)$/);
  }
  expect(shortWords(effect(1, 0.5, 2, { verdict: 'unknown', because: '', more_runs: null }))).toBe(
    'not known',
  );
  expect(
    reasonWords(effect(1, null, null, { verdict: 'unknown', because: 'between -100 % and +inf %' })),
  ).toBe('no bounds');
  const few = { verdict: 'unknown', because: '4 runs after; at least 5 are needed' } as const;
  expect(reasonWords(effect(null, null, null, few))).toBe('4 runs after; at least 5 are needed');
});

test('the size has its bounds, in the unit of the measure', () => {
  expect(changeWords(ledgerRow())).toBe('−14 s (−19 s to −8 s)');
  expect(changeWords(ledgerRow({ change_low: null }))).toBe('−14 s');
  expect(
    changeWords(ledgerRow({ measure: 'files', change: -1200, change_low: -1500, change_high: -900 })),
  ).toBe('−1,200 files (−1,500 files to −900 files)');
});

test('the reason of the server is not repeated where it is only the bounds', () => {
  expect(remarksOf({ because: 'between -19 % and -8 %' })).toBe('');
  expect(
    remarksOf({ because: 'between -19 % and +inf %; from the 6 runs before another append; no controls' }),
  ).toBe('from the 6 runs before another append; no controls');
  expect(remarksOf({ because: '4 runs after; at least 5 are needed' })).toBe(
    '4 runs after; at least 5 are needed',
  );
  expect([1, 9, null].map((more_runs) => moreRunsWords({ more_runs }))).toEqual([
    '1 more run would probably show it',
    '9 more runs would probably show it',
    null,
  ]);
});

test('of a table that no job is known to read, the reason is shown and no job is made up', () => {
  const because = 'no job is known to read this table';
  const row = ledgerRow({ ...EACH.at(-1), job_name: '', runs_after: null, because });
  expect(operationSentence(LAST, row)).toBe(
    'No data yet on the effect of the last compaction of this table: no job is known to read this table.',
  );
  expect(sinceCommitSentence(row)).toBe('no data yet, no job is known to read this table');
  expect(reasonWords(row)).toBe(because);
  expect(reasonWords({ ...row, job_name: 'a', because: '' })).toBe('the number of runs is unknown');
});
