// Contention as the server returns it: a stream, a batch job that it refused, and a job that retried.
import type { Schemas } from '#lib/api/client.ts';

const NOW = Date.UTC(2026, 10, 21, 6);
const HOUR = 3_600_000;

export const collision = (change: Partial<Schemas['CollisionRow']> = {}): Schemas['CollisionRow'] => ({
  ...{ loser: 'merge_customers', loser_kind: 'row_delta', loser_streaming: false },
  ...{ winner: 'events', winner_kind: 'append', winner_streaming: true },
  ...{ conflict_kind: 'files_added', refused: 3, retried: 0 },
  ...{ last_at: NOW - HOUR, snapshot_id: '5184430069070270604' },
  ...change,
});

export const writer = (change: Partial<Schemas['WriterAttempts']> = {}): Schemas['WriterAttempts'] => ({
  ...{ writer: 'merge_customers', kind: 'row_delta', streaming: false, commits: 9, attempts_known: 0 },
  ...{ attempts: null, retries: null, refused: 3, failed: 0, last_at: NOW - HOUR },
  ...change,
});

export const contention = (change: Partial<Schemas['Contention']> = {}): Schemas['Contention'] => ({
  ...{ start: NOW - 24 * HOUR, reported: 42, attempts_known: 30, attempts: 45, retries: 15 },
  ...{ refused: 3, failed: 1, commits_per_minute: 6, ceiling_per_minute: 7.5 },
  writers: [
    writer({
      ...{ writer: 'etl', kind: 'append', streaming: null, commits: 30, attempts_known: 30 },
      ...{ attempts: 45, retries: 15, refused: null, failed: null },
    }),
    writer(),
  ],
  collisions: [
    collision(),
    collision({
      ...{ loser: 'etl', loser_kind: 'append', loser_streaming: null, conflict_kind: null },
      ...{ winner: 'compaction', winner_kind: 'replace', winner_streaming: null, refused: 0, retried: 15 },
    }),
    collision({ winner: null, winner_kind: null, winner_streaming: null, snapshot_id: null }),
  ],
  ...change,
});

export const SILENT = contention({
  ...{ reported: 0, attempts_known: 0, attempts: null, retries: null, refused: null, failed: null },
  ...{ ceiling_per_minute: null, writers: [], collisions: [] },
});
