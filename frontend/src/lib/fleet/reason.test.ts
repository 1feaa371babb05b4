import { expect, test } from 'vitest';
import { COLUMNS } from './columns.ts';
import { AT, fleetRow, HOUR_MS, SNAPSHOT } from './fixtures.ts';
import { emphasis, momentHref, needsAttention, reasonCommitHref, reasonSentence } from './reason.ts';

const NOW = AT + 12 * HOUR_MS;
const query = (href: string) => new URL(href, 'http://x').searchParams;

test('a reason with a moment opens the timeline around it, with the commit chosen', () => {
  const found = query(momentHref(fleetRow(), new URLSearchParams('from=now-7d'), NOW));
  expect(Number(found.get('from'))).toBe(AT - HOUR_MS);
  expect(Number(found.get('to'))).toBe(AT + 2 * HOUR_MS);
  expect(found.get('at')).toBe(String(AT));
  expect(found.get('c')).toBe(SNAPSHOT);
});

test('the window never ends in the future, and never before its moment', () => {
  expect(Number(query(momentHref(fleetRow(), new URLSearchParams(), AT + 5 * 60_000)).get('to'))).toBe(
    AT + 300_000,
  );
  expect(Number(query(momentHref(fleetRow(), new URLSearchParams(), AT - 5)).get('to'))).toBeGreaterThan(AT);
});

test('a reason without a moment keeps the range that is shown', () => {
  const row = fleetRow({ reason: { at: null, snapshot_id: null, code: 'no_compaction' } });
  expect(momentHref(row, new URLSearchParams('from=now-7d&q=x'), NOW)).toBe(
    '/t/lake/sales/customer_events?from=now-7d',
  );
  expect(reasonCommitHref(row)).toBeNull();
});

test('a reason that names a commit leads straight to it', () => {
  expect(reasonCommitHref(fleetRow())).toBe(`/t/lake/sales/customer_events/commits/${SNAPSHOT}`);
});

test('a calm table needs no attention', () => {
  expect(needsAttention(fleetRow({ reason: { code: 'none', severity: 'ok' } }))).toBe(false);
  expect(needsAttention(fleetRow())).toBe(true);
});

test('only the number that the reason is about stands out', () => {
  expect(emphasis(fleetRow(), 'file_burst')).toBe('crit');
  expect(emphasis(fleetRow(), 'job_slower')).toBe('');
});

test('a sentence starts with a capital and ends with a full stop', () => {
  expect(reasonSentence(fleetRow({ reason: { sentence: 'no commit for 20 h' } }).reason)).toBe(
    'No commit for 20 h.',
  );
  expect(reasonSentence(fleetRow({ reason: { sentence: 'Done.' } }).reason)).toBe('Done.');
});

test('cells say the number with its unit, and nothing where it is not known', () => {
  const row = fleetRow({
    values: { delete_files: null, data_files: null, small_files: 3 },
    deltas: { data_files: null },
  });
  const said = Object.fromEntries(COLUMNS.map((column) => [column.heading, column.cell(row, NOW)]));
  expect(said['Job p95']?.text).toBe('171 s');
  expect(said['Δ p95']?.text).toBe('+220 %');
  expect(said['Job median']?.text).toBe('160 s');
  expect(said['Δ median']?.text).toBe('+208 %');
  expect(said['Last commit']?.text).toBe('12 h');
  for (const heading of ['Files', 'Δ files', 'Small files', 'Deletes / file'])
    expect(said[heading]).toMatchObject({ text: null });
});

test('no cell of a table without files divides by zero', () => {
  const row = fleetRow({ values: { data_files: 0, small_files: 0 } });
  expect(COLUMNS.find((column) => column.heading === 'Small files')?.cell(row, NOW).text).toBeNull();
});
