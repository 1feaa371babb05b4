// A refs page as the server returns it: main was rolled back, a branch diverged, a tag keeps a quarter's end.
import type { Schemas } from '#lib/api/client.ts';

export const NOW = Date.UTC(2026, 10, 21, 6);
const DAY = 86_400_000;

const RULE: Schemas['Retention'] = {
  min_snapshots_to_keep: 5,
  max_snapshot_age_ms: 5 * DAY,
  max_ref_age_ms: null,
  min_snapshots_said_by: 'table',
  max_age_said_by: 'default',
  max_ref_age_said_by: null,
};

export const refRow = (change: Partial<Schemas['RefRow']> = {}): Schemas['RefRow'] => ({
  name: 'main',
  type: 'branch',
  snapshot_id: '378142004021992640',
  committed_at: NOW - DAY / 4,
  moved_at: NOW - DAY / 8,
  retention: RULE,
  ancestors: 149,
  protected: 40,
  protected_from: NOW - 5 * DAY,
  ahead: null,
  behind: null,
  expires_at: null,
  sentence: 'Expiry keeps the newest 5 snapshots and all of the last 5 days, currently 40',
  ...change,
});

const AUDIT = refRow({
  name: 'audit',
  snapshot_id: '91',
  ahead: 2,
  behind: 3,
  retention: { ...RULE, max_ref_age_said_by: 'default' },
});
const TAG = refRow({
  name: 'q3',
  type: 'tag',
  snapshot_id: '7',
  ahead: 0,
  behind: 90,
  protected: 1,
  expires_at: NOW + 24 * DAY,
  retention: { ...RULE, max_ref_age_ms: 30 * DAY, max_ref_age_said_by: 'ref' },
  sentence: 'Expiry keeps its snapshot as long as the tag exists',
});

export const refsPage = (change: Partial<Schemas['RefsPage']> = {}): Schemas['RefsPage'] => ({
  catalog: 'lake',
  namespace: 'sales',
  table: 'customer_events',
  format: 'iceberg',
  status: 'ok',
  watermark: NOW,
  notes: [],
  live_snapshots: 149,
  refs: [refRow(), AUDIT, TAG],
  moves: [
    {
      name: 'main',
      type: 'branch',
      kind: 'rolled_back',
      t: NOW - DAY / 8,
      not_before: null,
      from_snapshot_id: '5184430069070270604',
      to_snapshot_id: '378142004021992640',
      sentence: 'main was rolled back',
    },
    {
      name: 'q3',
      type: 'tag',
      kind: 'created',
      t: NOW - DAY,
      not_before: null,
      from_snapshot_id: null,
      to_snapshot_id: '7',
      sentence: 'q3 was created at 7',
    },
  ],
  ...change,
});
