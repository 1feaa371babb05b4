// Generated from `backend/limnograph/domain/answers/lane_specs.py`: change it there, then run `make types`.
import type { Lane } from './lanes.ts';

/** Every lane, in the order of display. */
export const ALL_LANES = [
  'alerts',
  'job_duration',
  'job_runs',
  'commits',
  'schema',
  'data_files',
  'file_size',
  'delete_files',
  'freshness',
  'bytes',
  'records',
  'manifests',
  'skew',
  'debt',
  'overlap',
  'planning',
  'query_p95',
  'skipped_share',
  'read_amplification',
  'cpu',
  'spill',
  'executors',
] as const;
export type LaneId = (typeof ALL_LANES)[number];

/** The lanes of an answer when none are chosen. */
export const DEFAULT_LANES: readonly LaneId[] = [
  'alerts',
  'job_duration',
  'job_runs',
  'commits',
  'schema',
  'data_files',
  'file_size',
  'delete_files',
  'freshness',
];

/** Lanes of events and bars, which have no axis of values. */
export const LANES_WITHOUT_AXIS: readonly string[] = [
  'alerts',
  'job_runs',
  'commits',
  'schema',
];

export const LANE_KINDS: Readonly<Record<LaneId, Lane['kind']>> = {
  alerts: 'bars',
  job_duration: 'band',
  job_runs: 'bars',
  commits: 'events',
  schema: 'bars',
  data_files: 'step',
  file_size: 'band',
  delete_files: 'step',
  freshness: 'line',
  bytes: 'step',
  records: 'step',
  manifests: 'step',
  skew: 'step',
  debt: 'step',
  overlap: 'step',
  planning: 'line',
  query_p95: 'line',
  skipped_share: 'line',
  read_amplification: 'line',
  cpu: 'line',
  spill: 'line',
  executors: 'line',
};

export const LANE_UNITS: Readonly<Record<LaneId, string>> = {
  alerts: 'alerts',
  job_duration: 'seconds',
  job_runs: 'runs',
  commits: 'files',
  schema: 'versions',
  data_files: 'files',
  file_size: 'bytes',
  delete_files: 'files',
  freshness: 'seconds',
  bytes: 'bytes',
  records: 'rows',
  manifests: 'manifests',
  skew: 'ratio',
  debt: 'files',
  overlap: 'files',
  planning: 'seconds',
  query_p95: 'seconds',
  skipped_share: 'share',
  read_amplification: 'ratio',
  cpu: 'cores',
  spill: 'bytes',
  executors: 'executors',
};

/** Where each lane usually comes from: runs of a job may also have been pushed. */
export const LANE_SOURCES: Readonly<Record<LaneId, Lane['source']>> = {
  alerts: 'alertmanager',
  job_duration: 'prometheus',
  job_runs: 'prometheus',
  commits: 'meta',
  schema: 'meta',
  data_files: 'meta',
  file_size: 'meta',
  delete_files: 'meta',
  freshness: 'meta',
  bytes: 'meta',
  records: 'meta',
  manifests: 'meta',
  skew: 'meta',
  debt: 'meta',
  overlap: 'meta',
  planning: 'meta',
  query_p95: 'meta',
  skipped_share: 'meta',
  read_amplification: 'meta',
  cpu: 'prometheus',
  spill: 'prometheus',
  executors: 'prometheus',
};
