import { expect, test } from 'vitest';
import { fleetCsv } from './export.ts';
import { AT, fleetRow } from './fixtures.ts';

test('a row a table, its numbers as they are, instants in UTC', () => {
  const row = fleetRow({ reason: { sentence: 'many files' } });
  const [head = '', line = '', ...rest] = fleetCsv([row]).split('\r\n');
  const of = (name: string) => line.split(',')[head.split(',').indexOf(name)];
  expect(rest).toEqual(['']);
  expect(['table', 'bytes', 'delta_data_files', 'last_committed_at'].map(of)).toEqual([
    'customer_events',
    '192000000000',
    '50000',
    new Date(AT).toISOString().replace('.000Z', 'Z'),
  ]);
});
test('a name that would be a formula is text, and what is not known is empty', () => {
  const text = fleetCsv([fleetRow({ table: '=cmd;1', values: { records: null } })]);
  expect(text).toContain('"\'=cmd;1"');
  expect(text.split('\r\n')[1]).toContain(',,');
});
