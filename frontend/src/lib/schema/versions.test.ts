import { expect, test } from 'vitest';
import { version } from './fixtures.ts';
import { cells, headline, shortId } from './versions.ts';

const span = (first: number, versions: number, name: string, type = 'long', required = false) => ({
  first,
  versions,
  name,
  type,
  required,
  doc: null,
});

test('a row of the matrix shows where a field was added, changed, kept and dropped', () => {
  const row = cells([span(1, 2, 'uid'), span(3, 1, 'user_id'), span(5, 1, 'user_id', 'string', true)], 6);
  expect(row.map(({ state, text }) => [state, text])).toEqual([
    ['absent', ''],
    ['new', 'long'],
    ['same', ''],
    ['changed', 'user_id'],
    ['absent', ''],
    ['new', 'string, required'],
  ]);
});

test('a comment alone is a change that says so', () => {
  expect(cells([span(0, 1, 'a'), { ...span(1, 1, 'a'), doc: 'what' }], 2)[1]).toEqual({
    state: 'changed',
    text: 'comment',
  });
});

test('the headline is the newest change that breaks readers', () => {
  const added = version({ id: '14', risk: 'safe', changes: [] });
  expect(headline([added, version()])).toBe('Uid was renamed to user_id; its field id is still 2.');
  expect(headline([version({ first: true })])).toBe('No changes since the table was first observed.');
  expect(
    headline([version({ kind: 'spec', changes: [], sentence: 'Partitioned by day(ts)', risk: 'safe' })]),
  ).toBe('Partition spec: Partitioned by day(ts).');
});

test('ids are as the timeline writes them', () => {
  expect([shortId('schema', '13'), shortId('spec', '2'), shortId('sort_order', null)]).toEqual([
    's13',
    'p2',
    'not read',
  ]);
});
