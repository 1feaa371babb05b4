// What the ledger calls operations, measures and verdicts, and what a row reads as. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { fullName, type TableRef } from '#lib/api/names.ts';
import { count } from '#lib/format/count.ts';
import { instant } from '#lib/format/instant.ts';
import { isClaim, operationSentence, type LedgerVerdict, type Measure } from './sentence.ts';

export type LedgerRow = Schemas['LedgerRow'];

/** In the order of the bar: what is known first. */
export const VERDICTS = [
  {
    value: 'helped',
    name: 'helped',
    meaning: 'The whole interval is below “no change”.',
  },
  {
    value: 'none',
    name: 'no change',
    meaning: 'The whole interval is within ±5 %.',
  },
  {
    value: 'worse',
    name: 'worse',
    meaning: 'The whole interval is above “no change”.',
  },
  {
    value: 'unknown',
    name: 'unknown',
    meaning: 'Too few runs, or the interval is too wide. The row shows how many more runs are needed.',
  },
  {
    value: 'confounded',
    name: 'confounded',
    meaning: 'Another overwrite, delete, replace, schema change or deploy, with at most one run between.',
  },
  {
    value: 'not_separable',
    name: 'not separable',
    meaning: 'The whole cluster may have changed at that time, and the data cannot exclude it.',
  },
  {
    value: 'no_data_yet',
    name: 'no data yet',
    meaning: 'Fewer than 8 runs have ended since the operation, or no job is known to read the table.',
  },
] as const satisfies readonly { value: LedgerVerdict; name: string; meaning: string }[];

export const MEASURES = [
  { value: 'duration', label: 'duration' },
  { value: 'planning', label: 'planning time' },
  { value: 'files', label: 'files opened' },
] as const satisfies readonly { value: Measure; label: string }[];

export const measureName = (measure: Measure): string =>
  MEASURES.find(({ value }) => value === measure)?.label ?? measure;

const OPERATIONS: Record<string, string> = {
  rewrite_data_files: 'compaction',
  rewrite_position_delete_files: 'rewrite of delete files',
  rewrite_manifests: 'rewrite of manifests',
  expire_snapshots: 'snapshot expiry',
  remove_orphan_files: 'removal of orphan files',
};

/** `compaction`, `snapshot expiry`; an action without a name of its own is shown as it is. */
export function operationName({
  action,
  snapshot_id: id,
}: Pick<LedgerRow, 'action' | 'snapshot_id'>): string {
  if (action === null) return id === null ? 'snapshot expiry' : 'replace';
  return OPERATIONS[action] ?? action;
}

/** The table of a row; null where its name is not known any more. */
export function refOf({ catalog, namespace, table }: LedgerRow): TableRef | null {
  return catalog && namespace && table ? { catalog, namespace, table } : null;
}

/** What is measured: `churn`, `all scans`, or that no job is known to read the table. */
export const jobName = ({ job_name: job, measure }: Pick<LedgerRow, 'job_name' | 'measure'>): string =>
  job || (measure === 'duration' ? 'no known job' : 'all scans');

/** A row is one operation, one job, one measure. */
export const keyOf = (row: LedgerRow): string =>
  [row.table_uuid, row.operation_id, row.job_name, row.measure].join(' ');

const unit = ({ measure }: LedgerRow) => (measure === 'duration' ? 'run' : 'scan');
const times = (n: number, word: string) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

/** `96 runs before, 24 after`, `3 controls`: on what the verdict rests. */
export function basisWords(row: LedgerRow): string[] {
  const { runs_before: before, runs_after: after, controls } = row;
  const runs =
    row.verdict === 'no_data_yet' || (before === null && after === null)
      ? []
      : [
          `${before === null ? `${unit(row)}s before unknown` : `${times(before, unit(row))} before`}, ${after === null ? 'unknown' : count(after)} after`,
        ];
  return [
    ...runs,
    ...(controls === null || row.measure !== 'duration'
      ? []
      : [controls === 0 ? 'no controls' : times(controls, 'control')]),
  ];
}

/** The whole row as sentences, for those who do not see it. */
export function spokenRow(row: LedgerRow): string {
  const ref = refOf(row);
  const table = ref ? fullName(ref) : `table ${row.table_uuid}`;
  const by = row.writer ? ` by ${row.writer}` : '';
  const basis = isClaim(row) || row.verdict === 'unknown' ? basisWords(row) : [];
  return `${instant(row.committed_at)}: ${operationSentence(`the ${operationName(row)} of ${table}${by}`, row)}${basis.length ? ` ${basis.join(', ')}.` : ''}`;
}
