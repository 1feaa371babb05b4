import { describe, expect, test } from 'vitest';
import { bytes } from './bytes.ts';
import { brief, compact, count, percent, ratio, signed } from './count.ts';
import { duration, seconds } from './duration.ts';
import { clockSeconds, instant, iso, span, weekday } from './instant.ts';

test('a large count keeps its first digits, a small one all of them', () => {
  expect([brief(9_999_999), brief(304_961_155), brief(-1_327_846_770), brief(null)]).toEqual([
    '9,999,999',
    '304.96 M',
    '\u22121.33 bn',
    'not read',
  ]);
});

test('a share just under ten percent is not printed as 10.0', () => {
  expect([percent(0.0996), percent(0.0994)]).toEqual(['10 %', '9.9 %']);
});

describe('counts', () => {
  test('thousands are separated as in en-GB', () => expect(count(51202)).toBe('51,202'));
  test('what is not known is said, never zero', () => {
    expect([count(null), signed(undefined), bytes(NaN), duration(null), instant(null)]).toEqual(
      Array(5).fill('not read'),
    );
  });
  test('zero is a number', () => expect([count(0), bytes(0), duration(0)]).toEqual(['0', '0 B', '0 s']));
  test('changes carry their sign, with a real minus', () => {
    expect([signed(50000), signed(-49648), signed(0)]).toEqual(['+50,000', '−49,648', '±0']);
  });
  test('a change that rounds to zero is no change', () =>
    expect([signed(-0.2), count(-0.2)]).toEqual(['±0', '0']));
  test('axes are short', () => {
    expect([compact(60000), compact(1250000), compact(352), compact(0)]).toEqual(['60k', '1.3M', '352', '0']);
  });
  test('ratios and shares', () => {
    expect([ratio(3.08), ratio(118), percent(0.976), percent(0.09), percent(0.0125)]).toEqual([
      '3.1×',
      '118×',
      '98 %',
      '9 %',
      '1.3 %',
    ]);
  });
});

describe('sizes and lengths', () => {
  test('bytes keep three figures at most', () => {
    expect([bytes(900000), bytes(116e6), bytes(512), bytes(1.5e12), bytes(-2e6)]).toEqual([
      '0.9 MB',
      '116 MB',
      '512 B',
      '1.5 TB',
      '−2.0 MB',
    ]);
  });
  test('durations take two units', () => {
    expect([0.42, 52, 150, 9000, 273600, 59.9, 3599.7].map(duration)).toEqual([
      '0.4 s',
      '52 s',
      '2 m 30 s',
      '2 h 30 m',
      '3 d 4 h',
      '1 m',
      '1 h',
    ]);
  });
  test('a job reads in seconds', () => expect([seconds(160.2), seconds(1.44)]).toEqual(['160 s', '1.4 s']));
});

describe('instants', () => {
  const burst = Date.UTC(2026, 10, 21, 3, 4, 12);
  test('are UTC whatever the browser thinks', () => {
    expect([clockSeconds(burst), weekday(burst), instant(burst), iso(burst)]).toEqual([
      '03:04:12',
      'Sat 21 Nov',
      '21 Nov 2026, 03:04:12 UTC',
      '2026-11-21T03:04:12Z',
    ]);
  });
  test('a span names its days only when they differ', () => {
    expect(span(burst, burst + 3600_000)).toBe('03:04 – 04:04');
    expect(span(burst, burst + 86_400_000)).toBe('21 Nov 03:04 – 22 Nov 03:04');
    expect(span(burst - 365 * 86_400_000, burst)).toBe('21 Nov 2025 03:04 – 21 Nov 2026 03:04');
  });
});
