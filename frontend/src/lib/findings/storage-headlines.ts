// What is wrong with storage, engines, streams and catalogs, and which readers an expiry would hit.
import { bytes } from '#lib/format/bytes.ts';
import { count, percent } from '#lib/format/count.ts';
import { duration, seconds } from '#lib/format/duration.ts';
import type { Evidence } from './evidence.ts';
import type { Facts } from './headline.ts';
import { warningHeadline } from './warning.ts';
import type { FindingCode } from './words.ts';

type StorageCode = Extract<
  FindingCode,
  | 'stream_lag'
  | 'tiny_commits'
  | 'format_incompatible'
  | 'overlap'
  | 'write_mode_mismatch'
  | 'catalog_near_limit'
  | 'held_bytes'
  | 'deletes_not_materialized'
  | 'high_cardinality_partitioning'
  | 'cold_data'
  | 'reader_at_risk'
  | 'at_risk'
>;

const size = (evidence: Evidence, name: string): string | null => {
  const value = evidence.number(name);
  return value === null ? null : bytes(value);
};

const days = (value: number): string => (value === 1 ? '1 day' : `${count(value)} days`);

export const STORAGE_HEADLINES: Record<StorageCode, (facts: Facts) => string> = {
  held_bytes: ({ finding, evidence, tense }) => {
    if (finding.subject === '') {
      const freed = size(evidence, 'freed_bytes') ?? 'Many bytes';
      return `${freed} ${tense('are', 'were')} held by snapshots older than the table's own retention`;
    }
    const kind = evidence.text('ref') === 'tag' ? 'Tag' : 'Branch';
    const kept = evidence.number('kept_days');
    const alone = `${kind} ${finding.subject} alone ${tense('holds', 'held')} ${size(evidence, 'ref_bytes') ?? 'many bytes'}`;
    return kept === null ? alone : `${alone}; it expires after ${days(kept)}`;
  },
  deletes_not_materialized: ({ evidence, tense }) => {
    if (evidence.number('rewritten') !== null)
      return `Deleted rows ${tense('are', 'were')} still in files that old snapshots reach`;
    const deleted = evidence.number('total_position_deletes');
    const rows = evidence.counted('total_records', 'row');
    const which = deleted === null || rows === null ? 'Deleted rows' : `${count(deleted)} of ${rows}`;
    const gone = which === 'Deleted rows' ? which : `${which} ${tense('are', 'were')} deleted, but`;
    return `${gone} ${tense('are', 'were')} still in the data files`;
  },
  high_cardinality_partitioning: ({ evidence, tense }) => {
    const partitions = evidence.counted('partitions_total', 'partition') ?? 'very many partitions';
    return `The table ${tense('has', 'had')} ${partitions} by a column's values, most of them tiny`;
  },
  cold_data: ({ evidence, tense }) => {
    const cold = size(evidence, 'cold_bytes') ?? 'Most of the table';
    const since = evidence.number('days');
    const without = evidence.number('reads_known') ? 'a write or a read' : 'a write';
    const span = since === null ? 'for a long time' : `for ${days(since)}`;
    return `${cold} ${tense('are', 'were')} in partitions without ${without} ${span}`;
  },
  reader_at_risk: ({ finding, evidence, tense }) => {
    const snapshot = evidence.text('snapshot');
    const needs = `${finding.subject || 'A reader'} ${tense('needs', 'needed')} ${snapshot === null ? 'old snapshots' : `snapshot ${snapshot}`}`;
    return `${needs}, which the table's own retention removes before the next read`;
  },
  at_risk: ({ finding, now }) => warningHeadline(finding, now),
  tiny_commits: ({ finding, evidence, tense }) => {
    const commits = evidence.counted('commits', 'commit') ?? 'hundreds of commits';
    const writer = finding.subject || 'One writer';
    return `${writer} ${tense('makes', 'made')} ${commits} a day with a few rows each`;
  },
  format_incompatible: ({ finding, evidence, tense }) => {
    const feature = evidence.text('feature');
    const engine = finding.subject || 'An engine';
    const reads = `${engine}, which reads the table, ${tense('does', 'did')} not support`;
    return `${reads} ${feature ?? 'one of its features'}`;
  },
  overlap: ({ evidence, tense }) => {
    const files = evidence.counted('overlap_depth_max', 'data file') ?? 'Many data files';
    return `${files} ${tense('cover', 'covered')} the same value of the sort order, so filters on it skip few`;
  },
  write_mode_mismatch: ({ evidence, tense }) => {
    const again = size(evidence, 'peak') ?? 'more bytes than the table has';
    return `Small changes ${tense('write', 'wrote')} ${again} again within 7 days`;
  },
  catalog_near_limit: ({ finding, evidence, tense }) => {
    const [tables, limit] = [evidence.counted('tables', 'table'), evidence.number('limit')];
    if (tables !== null && limit !== null)
      return `${finding.subject || 'The catalog'} ${tense('has', 'had')} ${tables} of at most ${count(limit)}`;
    const errors = evidence.number('error_share');
    if (errors !== null)
      return `${percent(errors)} of the requests to the catalog ${tense('fail', 'failed')}`;
    const slow = evidence.number('p95_seconds');
    const took = slow === null ? 'slowly' : `in ${seconds(slow)} at the 95th percentile`;
    return `The catalog ${tense('responds', 'responded')} ${took}`;
  },
  stream_lag: ({ finding, evidence, tense }) => {
    const lag = evidence.number('lag_seconds');
    const behind = lag === null ? 'behind its source' : `${duration(lag)} behind its source`;
    return `Stream ${finding.subject || 'of the table'} ${tense('is', 'was')} ${behind}`;
  },
};
