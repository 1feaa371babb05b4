import { expect, test } from 'vitest';
import { NOW } from '#lib/forecast/fixtures.ts';
import { evidenceRows } from './evidence.ts';
import { finding } from './fixtures.ts';
import { sentenceOf } from './sentence.ts';

const DAY = 86_400_000;
const evidence = {
  ...{ threshold: 10_000, level: 4_300, hours: 168, p_cross: 0.72, p_cross_if_maintained: 0.11 },
  ...{ growth_per_day: 1_900, driver: 'small_files', p10: 8_900, p90: 14_200 },
  ...{ crosses_from: NOW + 3 * DAY, crosses_to: NOW + 5 * DAY, as_of: NOW },
};
const warning = (change = {}) =>
  finding({ code: 'at_risk', group: 'health', subject: 'small_files', cause: null, evidence, ...change });

test('a warning says range, odds, cause and what maintenance would change', () => {
  const { headline, cause } = sentenceOf(warning(), NOW);
  expect(headline).toBe('Small files will probably pass 10,000 between Tue and Thu (7 of 10)');
  expect(cause).toBe('1,900 a day come in; with compaction now: 1 of 10');
});

test('what was expected is in the past, and what is not known is left out', () => {
  const closed = { state: 'closed', closed_at: NOW, subject: 'metadata_bytes' };
  expect(sentenceOf(warning({ ...closed, evidence: { threshold: 5e7 } }), NOW)).toMatchObject({
    ...{ headline: 'The metadata file was expected to pass 50 MB', cause: null },
  });
  expect(sentenceOf(warning({ subject: 'new_metric' }), NOW).headline).toBe(
    'A metric will probably pass its threshold',
  );
});

test('evidence has the unit of its metric', () => {
  const { subject, code } = warning({ subject: 'metadata_bytes' });
  const rows = evidenceRows({
    code,
    subject,
    evidence: { threshold: 5e7, p_cross: 0.7, driver: 'total_bytes' },
  });
  expect(rows.map(({ label, value }) => `${label}: ${value}`)).toEqual([
    ...['Probability: 70 %', 'Threshold: 50 MB', 'Cause: growth of the table'],
  ]);
});
