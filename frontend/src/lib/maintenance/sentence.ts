// A plan as one sentence, its reasons, and what of it is not known. Pure.
import { bytes } from '#lib/format/bytes.ts';
import { count } from '#lib/format/count.ts';
import { CODES, codeWord, type FindingCode } from '#lib/findings/words.ts';
import { money, NOT_KNOWN } from '#lib/format/money.ts';
import { paybackText, timeBetween } from './amounts.ts';
import { isWork, openGuards, ruleName, type Plan } from './words.ts';

/** `3 partitions`, `partition day=2026-11-20`, `the whole table`. */
export function scopeText({ partitions }: Plan['scope']): string {
  if (!partitions.length) return 'the whole table';
  return partitions.length === 1 ? `partition ${partitions[0]}` : `${count(partitions.length)} partitions`;
}

const SUBJECTS: Record<string, (scope: string) => string> = {
  compact: (scope) => `Compacting ${scope}`,
  compact_deletes: (scope) => `Compacting deleted rows in ${scope}`,
  position_deletes: (scope) => `Rewriting position deletes of ${scope}`,
  manifests: () => 'Rewriting manifests',
  expire: () => 'Expiring snapshots',
  metadata_versions: () => 'Deleting old metadata files after each commit',
  orphans: () => 'Removing orphan files',
  cluster: (scope) => `Clustering ${scope}`,
  writer: () => 'Changing how the table is written',
  delta_compact: (scope) => `Compacting ${scope}`,
  delta_purge: (scope) => `Purging deleted rows in ${scope}`,
  delta_vacuum: () => 'Vacuuming the table',
};
const subject = ({ rule, action, scope }: Plan) =>
  SUBJECTS[rule]?.(scopeText(scope)) ?? `Running ${action} on ${scopeText(scope)}`;

/** `turn 1,840 files into 22 and free 12 GB`; empty where nothing of it is known. */
function outcome({ predicted }: Plan): string {
  const { files_in: into, files_out: out, bytes_in: read, bytes_freed: freed } = predicted;
  const turned =
    into !== null && out !== null
      ? `turn ${files(into)} into ${count(out)}`
      : into !== null
        ? `rewrite ${files(into)}`
        : read !== null
          ? `rewrite ${bytes(read)}`
          : '';
  return [turned, freed ? `free ${bytes(freed)}` : ''].filter(Boolean).join(' and ');
}
const files = (n: number) => `${count(n)} ${n === 1 ? 'file' : 'files'}`;

/** `a`, `a and b`, `a, b and c`. */
export function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

/** `Compacting 3 partitions would turn 1,840 files into 22, takes 4 to 9 min, costs 0.11 USD and pays back in 2 days.` */
export function planSentence(plan: Plan, currency: string): string {
  const { predicted, value } = plan;
  const does = outcome(plan);
  const saves = value.money_per_month;
  const clauses = [
    does && `would ${does}`,
    predicted.seconds && `takes ${timeBetween(predicted.seconds)}`,
    predicted.cost && `costs ${money(predicted.cost.mid, currency)}`,
    value.payback_days !== null
      ? `pays back ${paybackText(value.payback_days)}`
      : saves && `saves ${money(saves, currency)} a month`,
  ].filter((clause) => clause !== null && clause !== '' && clause !== 0);
  return clauses.length
    ? `${subject(plan)} ${listed(clauses as string[])}.`
    : `${subject(plan)} is recommended.`;
}

/** What the sentence cannot say: `time`, `cost`, `saving`. */
export function unknownParts(plan: Plan): string[] {
  const { predicted, value } = plan;
  return [
    isWork(plan) && predicted.seconds === null && 'time',
    isWork(plan) && predicted.cost === null && 'cost',
    value.money_per_month === null && 'saving',
  ].filter((part) => part !== false);
}

/** Findings that the plan resolves; a code that this version does not know is shown as it is. */
export const reasonWords = ({ because }: Pick<Plan, 'because'>): string[] =>
  because.map((code) => (CODES.includes(code as FindingCode) ? codeWord(code as FindingCode) : code));

/** `12 s of jobs a day, measured on this table`; null where it is not known. */
export function savedTimeText({ seconds_per_day: saved }: Plan['value']): string | null {
  if (!saved) return null;
  const time = timeBetween({ low: saved.mid, high: saved.mid }).replace('about ', '');
  const basis =
    saved.basis === 'measured'
      ? ', measured on this table'
      : saved.basis === 'borrowed'
        ? ', estimated from effects on other tables'
        : '';
  return `${time} of jobs a day${basis}`;
}

/** A row of the queue as sentences, for those who do not see it. */
export function spokenRow(rank: number, table: string, plan: Plan, currency: string): string {
  const open = openGuards(plan).map(({ text }) => text);
  const unknown = unknownParts(plan);
  return [
    `${count(rank)}. ${table}: ${ruleName(plan.rule)}.`,
    planSentence(plan, currency),
    unknown.length ? `${listed(unknown)}: ${NOT_KNOWN}.` : '',
    open.length ? `Not before: ${open.join('; ')}` : '',
  ]
    .filter(Boolean)
    .join(' ');
}
