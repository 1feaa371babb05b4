// The twenty-five scenarios exist, each under its name and once, and none of them waits for a feature that is there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../browser.ts';
import { exists, FEATURES, type FeatureName } from './absent.ts';
import { expect, test } from './fixtures.ts';

const SCENARIOS = [
  'Pager link',
  'Old link',
  'Unknown label set',
  'Zero end time',
  'Back and silence',
  'Synchronized cursor',
  'Brush',
  'No-drag range',
  'Keyboard cause-finding',
  'Screen reader text',
  '64-bit id',
  'Explain selection',
  'No cause',
  'Recurring compaction',
  'Partial failure',
  'Cold timeout',
  'Watermark',
  'Cluster',
  'Schema change without snapshot',
  'Compare',
  'Zone',
  'Live',
  'Copy',
  'Maintenance safety',
  'Everywhere',
];

const folder = join(root, 'e2e/ui');
const source = readdirSync(folder)
  .filter((name) => name.endsWith('.spec.ts') && name !== 'scenarios.spec.ts')
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n');

test('each of the twenty-five scenarios is in this suite once, under its name', () => {
  const times = (name: string) => source.split(new RegExp(`(?:\\btest|, ?)\\(?'${name}'`)).length - 1;
  expect(Object.fromEntries(SCENARIOS.map((name) => [name, times(name)]))).toEqual(
    Object.fromEntries(SCENARIOS.map((name) => [name, 1])),
  );
});

test('no scenario waits for a feature that exists', () => {
  const waiting = [...source.matchAll(/waitsFor\('([^']+)'/g)].map((found) => found[1] as FeatureName);
  expect(waiting.filter((name) => !(name in FEATURES))).toEqual([]);
  expect([...new Set(waiting)].filter(exists)).toEqual([]);
});
