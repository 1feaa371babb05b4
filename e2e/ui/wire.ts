// The parts of the answers that scenarios change; `tests/api/docs/test_recorded_answers.py` holds the recordings to the document.
export interface Commit {
  snapshot_id: string;
  t: number;
  operation: string | null;
  added_data_files: number | null;
  app_id: string | null;
}
export interface Lane {
  id: string;
  source: string;
  label?: string | null;
  status: string;
  problem?: { type: string; title: string; detail: string } | null;
  query?: { promql?: string; sql?: string } | null;
  v?: (number | null)[];
  events?: Commit[];
  bars?: {
    start: number;
    end: number | null;
    label: string;
    state?: string;
    detail: string | null;
    severity?: string | null;
  }[];
}
export interface Timeline {
  range: { from: number; to: number; step: number };
  watermark: number | null;
  t: number[];
  lanes: Lane[];
  cmp: { lanes: Lane[] } | null;
  detail: Detail | null;
}
export interface Detail {
  catalog: string;
  namespace: string;
  table: string;
  reason: Reason;
  fields: { name: string }[];
  jobs: { name: string; role?: string }[];
  refs?: { name: string }[];
}
export interface Reason {
  code: string;
  severity: string;
  sentence: string;
  magnitude: number;
}
export interface Fleet {
  rows: { catalog: string; namespace: string; table: string; reason: Reason }[];
}
export interface Incident {
  alert: {
    fingerprint: string;
    starts_at: number;
    ends_at: number | null;
    alert_name: string;
    state: string;
  };
  active_at: number | null;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
export interface Hypothesis {
  kind: 'commit' | 'none' | 'infrastructure' | 'load';
  posterior: number;
  change?: number;
  commit_id?: string;
  table?: string;
  lag_seconds?: number;
  similar?: { commits: number; followed: number };
}
export interface Explained {
  controls: number;
  tables: string[];
  explanation: {
    changes: { effect_ratio: number }[];
    hypotheses: Hypothesis[];
    blamed: string[];
    verdict: string;
  };
  around: {
    competing: {
      kind: 'jobs' | 'load' | 'cpu' | 'spill' | 'executors';
      series: number;
      moved: number;
      ratio: number | null;
    }[];
  }[];
  suspects: Commit[];
  labels: { kind: string; snapshot_id: string; t: number; author: string }[];
}
