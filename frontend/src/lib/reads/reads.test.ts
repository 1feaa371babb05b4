import { describe, expect, test } from 'vitest';
import { readChart, type Box } from './chart.ts';
import { filter, NOTHING, NOW, numbers, point, readsPage } from './fixtures.ts';
import { engineOf, headline, isEmpty, servedBy, shortTime, unservedFilter, usersOf } from './words.ts';

const HOUR = 3_600_000;
const BOX: Box = { width: 140, left: 40, right: 0, share: [0, 100], depth: [110, 40] };
const DAY = { from: NOW - 10 * HOUR, to: NOW, step: 3_600 };

describe('words', () => {
  test('a planning time below a second is in milliseconds, an unknown one says so', () => {
    expect([0.0004, 0.24, 0.9994, 1.4, 75].map(shortTime)).toEqual([
      '0.4 ms',
      '240 ms',
      '999 ms',
      '1.4 s',
      '1 m 15 s',
    ]);
    expect(shortTime(null)).toBe('unknown');
  });

  test('the headline counts what there is and names the skipped share if it is known', () => {
    expect(headline(readsPage())).toBe(
      '412 scans and 88 queries in this range. Scans skipped 93 % of the table’s files.',
    );
    const total = numbers({ scans: 1, queries: 0, skipped_share: null });
    expect(headline(readsPage({ total }))).toBe('1 scan in this range.');
    expect(isEmpty(readsPage({ total: NOTHING }))).toBe(true);
  });

  test('a filter is loud if most scans have it and nothing prunes by it', () => {
    expect(unservedFilter(readsPage())?.column).toBe('customer_id');
    for (const change of [{ sorts: true }, { partitions: true }, { share: 0.4 }, { sorts: null }])
      expect(unservedFilter(readsPage({ filters: [filter(change)] }))).toBeNull();
  });

  test('what serves a filter is said, and unknown if the structure is', () => {
    expect(servedBy(filter())).toBe('neither partitions nor sorts');
    expect(servedBy(filter({ partitions: true, sorts: true }))).toBe('partition spec and sort order');
    expect(servedBy(filter({ partitions: null }))).toBe('unknown');
  });

  test('what is not stated says so', () => {
    expect([engineOf('spark', '4.1.0'), engineOf('trino'), engineOf(null, '1')]).toEqual([
      'spark 4.1.0',
      'trino',
      'not stated',
    ]);
    expect(usersOf([])).toBe('not stated');
    expect(usersOf([{ user: 'ana', reads: 1200 }])).toBe('ana (1,200)');
  });
});

describe('chart', () => {
  test('a bar is as high as its share, from the start of its span to the end', () => {
    const points = [point({ t: NOW - 10 * HOUR, skipped_share: 0.25 })];
    expect(readChart(points, DAY, BOX).bars).toBe('M40 100V75H49V100Z');
  });

  test('an unknown share has no bar, and unknown depths no line', () => {
    const points = [point({ skipped_share: null, overlap_depth: null })];
    expect(readChart(points, DAY, BOX)).toMatchObject({ bars: '', line: '', deepest: null });
  });

  test('depths are steps on an axis that ends at the deepest', () => {
    const points = [
      point({ t: NOW - 10 * HOUR, overlap_depth: 2 }),
      point({ t: NOW - 9 * HOUR, overlap_depth: 8 }),
    ];
    expect(readChart(points, DAY, BOX)).toMatchObject({ deepest: 8, line: 'M40 140H50L50 110H60' });
  });

  test('a span that begins before the range or ends after it is cut', () => {
    const points = [point({ t: NOW - 10.5 * HOUR, skipped_share: 1 })];
    expect(readChart(points, DAY, BOX).bars).toBe('M40 100V0H44V100Z');
  });
});
