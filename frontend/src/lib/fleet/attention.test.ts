import { expect, test } from 'vitest';
import { finding } from '#lib/findings/fixtures.ts';
import { attentionOf, bySeverity, needsAttention } from './attention.ts';
import { AT, fleetRow } from './fixtures.ts';

const calm = { code: 'none', severity: 'ok', snapshot_id: null, at: null } as const;

test('findings replace the reason, the most severe first', () => {
  const row = fleetRow({ findings: [finding(), finding({ code: 'stale', severity: 'warning' })] });
  expect(attentionOf(row, AT)).toMatchObject({
    ...{ critical: true, word: 'file burst', sentence: 'Data files rose from 120 to 1,620 at once.' },
    others: [{ code: 'stale' }],
  });
});

test('without open findings, the reason stays', () => {
  const closed = finding({ state: 'closed', closed_at: AT });
  expect(attentionOf(fleetRow({ findings: [closed] }), AT)).toMatchObject({
    top: null,
    word: 'file burst',
    at: AT,
  });
});

test('a table needs attention for its findings, whatever the reason of the range says', () => {
  const info = finding({ severity: 'info' });
  expect(needsAttention(fleetRow({ reason: calm, findings: [finding({ severity: 'warning' })] }))).toBe(true);
  expect(needsAttention(fleetRow({ findings: [info] }))).toBe(false);
  expect(needsAttention(fleetRow({ reason: calm, findings: [] }))).toBe(false);
});

test('rows are sorted by severity; those of one severity keep their order', () => {
  const warning = finding({ severity: 'warning' });
  const rows = [
    fleetRow({ table: 'a', findings: [warning] }),
    fleetRow({ table: 'b', reason: { severity: 'unknown' } }),
    fleetRow({ table: 'c', reason: calm, findings: [finding()] }),
    fleetRow({ table: 'd', findings: [warning] }),
  ];
  expect(bySeverity(rows).map(({ table }) => table)).toEqual(['c', 'a', 'd', 'b']);
});
