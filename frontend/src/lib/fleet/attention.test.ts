import { expect, test } from 'vitest';
import { finding } from '#lib/findings/fixtures.ts';
import type { AlertRow } from '#lib/alerts/words.ts';
import { attentionOf, bySeverity, needsAttention } from './attention.ts';
import { AT, fleetRow } from './fixtures.ts';

const firing = (change: Partial<AlertRow>): AlertRow => ({
  ...{ fingerprint: 'f', starts_at: AT, ends_at: null, heard_at: AT, state: 'firing', alert_name: 'JobLate' },
  ...{ severity: 'warning', job_name: null, summary: null, source: 'record', muted: null, finding: null },
  table: { catalog: 'lake', table_namespace: 'sales', table: 'customer_events' },
  ...change,
});
const calm = { code: 'none', severity: 'ok', snapshot_id: null, at: null } as const;

test('findings replace the reason, the most severe first', () => {
  const row = fleetRow({
    findings: [finding(), finding({ finding_id: 'b'.repeat(32), code: 'stale', severity: 'warning' })],
  });
  expect(attentionOf(row, AT)).toMatchObject({
    ...{ critical: true, word: 'file burst', sentence: 'Data files rose from 120 to 1,620 at once.' },
    others: [{ code: 'stale' }],
  });
});

test('a firing alert shows the finding that it belongs to, never that of another event', () => {
  const other = finding({ finding_id: 'a'.repeat(32), code: 'stale', severity: 'critical' });
  const burst = finding();
  const row = fleetRow({ findings: [other, burst] });
  const alert = firing({ finding: burst });
  expect(attentionOf(row, AT, alert)).toMatchObject({ word: 'file burst', top: burst, others: [other] });
  const alone = attentionOf(row, AT, firing({ summary: 'The job is late' }));
  expect(alone).toMatchObject({ word: 'JobLate', sentence: 'The job is late', at: null, top: null });
  expect(alone).toMatchObject({ critical: false, others: [other, burst] });
  expect(attentionOf(row, AT, firing({})).sentence).toBe('No finding belongs to this alert.');
});

test('an alert that fires after its cause is gone looks like the alert', () => {
  const gone = finding({ state: 'closed', closed_at: AT });
  const found = attentionOf(fleetRow({ findings: [] }), AT, firing({ finding: gone, severity: 'warning' }));
  expect(found).toMatchObject({ word: 'file burst', critical: false, top: gone, look: { icon: 'warn' } });
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
