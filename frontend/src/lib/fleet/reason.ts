// Words, weight and links of a table's reason. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { commitPath, tablePath } from '#lib/api/names.ts';
import { eventQuery } from '#lib/api/table-link.ts';
import type { IconName } from '#lib/ui/icons.ts';

type Row = Schemas['TableRow'];
type Reason = Schemas['Reason'];

export const SHORT: Record<Reason['code'], string> = {
  unreadable: 'unreadable',
  job_slower: 'job slower',
  file_burst: 'file burst',
  delete_growth: 'delete growth',
  no_compaction: 'compaction behind',
  snapshots_many: 'many snapshots',
  skew: 'partition skew',
  schema_change: 'schema change',
  stale: 'stale',
  none: '',
};
/** A word or two; empty when there is nothing to say. */
export const shortReason = (reason: Reason): string => SHORT[reason.code];

/** The server's sentence, as a sentence. */
export function reasonSentence({ sentence }: Reason): string {
  const ends = /[.!?]$/.test(sentence) ? '' : '.';
  return sentence.charAt(0).toUpperCase() + sentence.slice(1) + ends;
}

interface Look {
  icon: IconName;
  word: string;
  tone: string;
}
const LOOKS: Record<Reason['severity'] | 'info', Look> = {
  critical: { icon: 'crit', word: 'Critical', tone: 'c-crit' },
  warning: { icon: 'warn', word: 'Warning', tone: 'c-warn' },
  info: { icon: 'info', word: 'Info', tone: 'c-unknown' },
  unknown: { icon: 'unknown', word: 'Unknown', tone: 'c-unknown' },
  ok: { icon: 'ok', word: 'Healthy', tone: 'c-ok' },
};
/** It is known to be late, which is not the same as unknown. */
const STALE: Look = { icon: 'clock', word: 'Stale', tone: 'c-warn' };
export const lookOf = ({ severity, code }: { severity: keyof typeof LOOKS; code?: string }): Look =>
  severity === 'unknown' && code === 'stale' ? STALE : LOOKS[severity];

export const needsAttention = (row: Row): boolean =>
  row.reason.code !== 'none' && row.reason.severity !== 'ok';

/** The table's timeline around the moment of the reason; without a moment, over the range that is shown. */
export function momentHref(row: Row, range: URLSearchParams, now: number): string {
  const { at, snapshot_id: snapshot } = row.reason;
  const query = at == null ? new URLSearchParams() : eventQuery(at, snapshot, now);
  if (at == null)
    for (const name of ['from', 'to']) if (range.has(name)) query.set(name, range.get(name) ?? '');
  const text = query.toString();
  return tablePath(row) + (text ? `?${text}` : '');
}

/** The page of the commit that the reason names. */
export const reasonCommitHref = (row: Row): string | null =>
  row.reason.snapshot_id ? commitPath(row, row.reason.snapshot_id) : null;

export type Weight = 'crit' | 'warn' | '';
/** Emphasis of the number that the reason is about; the other numbers of the row stay calm. */
export function emphasis(row: Row, about: Reason['code']): Weight {
  if (row.reason.code !== about) return '';
  return row.reason.severity === 'critical' ? 'crit' : row.reason.severity === 'warning' ? 'warn' : '';
}
