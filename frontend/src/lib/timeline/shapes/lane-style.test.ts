import { expect, test } from 'vitest';
import type { SeriesLane } from '#lib/api/lanes.ts';
import { lookOf } from './lane-style.ts';
import { valuesOf } from './values.ts';

const look = lookOf({ id: 'freshness', unit: 's' });
const MINUTE = 60;

test.each([
  [45, ['0', '40 s']],
  [99 * MINUTE, ['0', '1 h', '2 h']],
  [70 * MINUTE, ['0', '1 h']],
  [23 * 60 * MINUTE, ['0', '20 h']],
  [26 * 60 * MINUTE, ['0', '1 d']],
  [44 * 60 * MINUTE, ['0', '1 d', '2 d']],
])('ages up to %d s have ticks of one number and one unit', (most, said) => {
  const lane = { kind: 'line', id: 'freshness', v: [0, most] } as unknown as SeriesLane;
  const { ticks } = valuesOf(lane, look, { height: look.height, compact: false, withDeltas: false });
  expect(ticks.map(({ value }) => look.printTick(value))).toEqual(said);
});
