// What findings, their groups, severities and ends are called, and where their pages are. Pure.
import type { Schemas } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import type { IconName } from '#lib/ui/icons.ts';

export type Finding = Schemas['Finding'];
export type FindingCode = Finding['code'];
export type FindingSeverity = Finding['severity'];

/** A word or two per code, for chips and lists. */
const WORDS: Record<FindingCode, string> = {
  job_slower: 'job slower',
  job_silent: 'job silent',
  job_failing: 'job failing',
  objective_missed: 'objective missed',
  file_burst: 'file burst',
  small_files: 'small files',
  too_many_files: 'too many files',
  compaction_stopped: 'compaction stopped',
  compaction_ineffective: 'compaction ineffective',
  delete_files_growing: 'delete files growing',
  equality_deletes: 'equality deletes',
  snapshots_unbounded: 'snapshots not expired',
  metadata_large: 'large metadata',
  manifests_fragmented: 'fragmented manifests',
  metadata_versions_kept: 'old metadata kept',
  partition_skew: 'partition skew',
  hot_partition: 'hot partition',
  schema_breaking: 'breaking schema change',
  schema_changed: 'schema changed',
  spec_changed: 'partition spec changed',
  null_share_jump: 'null share jumped',
  bounds_jump: 'bounds jumped',
  cardinality_jump: 'cardinality jumped',
  unreadable: 'unreadable',
  stale: 'stale',
  history_gap: 'gap in the history',
  stale_reader: 'stale reader',
  two_pointers: 'two pointers',
  filter_not_pruned: 'filter not pruned',
  commit_contention: 'commit contention',
  stream_batch_conflict: 'stream and batch conflict',
  stream_lag: 'stream lag',
  tiny_commits: 'tiny commits',
  format_incompatible: 'unreadable for an engine',
  overlap: 'overlapping files',
  write_mode_mismatch: 'write mode mismatch',
  catalog_near_limit: 'catalog near its limit',
  held_bytes: 'held bytes',
  deletes_not_materialized: 'deletes not materialized',
  high_cardinality_partitioning: 'too many partitions',
  cold_data: 'cold data',
  reader_at_risk: 'reader at risk',
  at_risk: 'at risk',
};
export const CODES = Object.keys(WORDS) as FindingCode[];
export const codeWord = (code: FindingCode): string => WORDS[code];

const GROUPS: Record<Finding['group'], string> = {
  jobs: 'Jobs',
  files: 'Files',
  deletes: 'Deletes',
  metadata: 'Metadata',
  layout: 'Layout',
  schema: 'Schema',
  columns: 'Columns',
  health: 'Health',
  readers: 'Readers',
  writers: 'Writers',
  catalog: 'Catalog',
  storage: 'Storage',
};
export const groupName = (group: Finding['group']): string => GROUPS[group];

export interface FindingLook {
  readonly icon: IconName;
  readonly word: string;
  /** Class of the text's colour. */
  readonly tone: 'c-crit' | 'c-warn' | 'c-ok' | 'c-unknown';
}

const SEVERITY_LOOKS: Record<FindingSeverity, FindingLook> = {
  critical: { icon: 'crit', word: 'Critical', tone: 'c-crit' },
  warning: { icon: 'warn', word: 'Warning', tone: 'c-warn' },
  info: { icon: 'info', word: 'Info', tone: 'c-unknown' },
};
/** The most severe first. */
export const SEVERITIES = Object.keys(SEVERITY_LOOKS) as FindingSeverity[];
export const severityLook = (severity: FindingSeverity): FindingLook => SEVERITY_LOOKS[severity];

/** How a finding ended, if no commit or run ended it: none of these says that the table recovered. */
const ENDS: Record<string, string> = {
  expired: 'Expired',
  merged: 'Merged into an earlier finding',
  retracted: 'Withdrawn',
  retired: 'Retired',
};

export const isOpen = ({ state }: Pick<Finding, 'state'>): boolean => state === 'open';

/** `Recovered`, `Expired`: the word for the end of a closed finding. */
export function endWord({ code, closed_by: by }: Pick<Finding, 'code' | 'closed_by'>): string {
  if (code === 'unreadable' && by === 'retracted') return 'Readable again';
  return ENDS[by ?? ''] ?? 'Recovered';
}

/** How a finding stands out: its severity while it is open, its end afterwards. */
export function lookOf(finding: Pick<Finding, 'state' | 'severity' | 'code' | 'closed_by'>): FindingLook {
  if (isOpen(finding)) return severityLook(finding.severity);
  const word = endWord(finding);
  const ended = word !== 'Recovered' && word !== 'Readable again';
  return ended ? { icon: 'clock', word, tone: 'c-unknown' } : { icon: 'ok', word, tone: 'c-ok' };
}

/** The commit that closed a finding; null: it is open, or something else closed it. */
export function closingCommit({ state, group, code, closed_by: by }: Finding): string | null {
  const ofTable = group !== 'jobs' || code === 'objective_missed';
  return state === 'closed' && ofTable && by !== null && /^-?\d+$/.test(by) ? by : null;
}

/** The commit that caused a finding; null if unknown. */
export const causingCommit = ({ cause }: Pick<Finding, 'cause'>): string | null =>
  cause?.snapshot_ids[0] ?? null;

/** The table of a finding; null where its name is not known. */
export function refOf({ catalog, namespace, table }: Finding): TableRef | null {
  return catalog && namespace && table ? { catalog, namespace, table } : null;
}
