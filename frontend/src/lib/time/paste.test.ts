import { expect, test } from 'vitest';
import { readPasted, writePasted } from './paste.ts';

const NOW = Date.UTC(2026, 10, 21, 6);

test.each([
  ['{"from":"now-6h","to":"now"}', 'now-6h', 'now'],
  [
    '{"from":"2026-11-21T03:00:00.000Z","to":"2026-11-21T04:00:00.000Z"}',
    '2026-11-21T03:00:00.000Z',
    '2026-11-21T04:00:00.000Z',
  ],
  ['{"from":1795230000000,"to":1795233600000}', '1795230000000', '1795233600000'],
  ['2026-11-21T03:00:00Z/2026-11-21T04:00:00Z', '2026-11-21T03:00:00Z', '2026-11-21T04:00:00Z'],
  ['2026-11-21 03:00 – 2026-11-21 04:00', '2026-11-21 03:00', '2026-11-21 04:00'],
  ['now-1d/d to now/d', 'now-1d/d', 'now/d'],
  [' now-3h ', 'now-3h', 'now'],
])('%s is a range', (text, from, to) => expect(readPasted(text, NOW)).toEqual({ from, to }));

test.each([
  '',
  'now',
  'orders',
  '{"from":"soon","to":"now"}',
  '{"from":"now"}',
  '[1,2]',
  'null',
  'a/b',
  '5184430069070270604',
])('%j is none', (text) => expect(readPasted(text, NOW)).toBeNull());
test('a range that ends before it begins is rejected', () =>
  expect(readPasted('{"from":"now","to":"now-6h"}', NOW)).toBeNull());
test('what is copied is read again', () =>
  expect(readPasted(writePasted({ from: 'now-6h', to: 'now' }), NOW)).toEqual({ from: 'now-6h', to: 'now' }));
