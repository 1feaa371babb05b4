// Why a table needs attention: its open findings, or, where it has none, its reason. Severity comes from the findings and
// does not depend on the range on screen. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { headlineOf } from '#lib/findings/headline.ts';
import { codeWord, isOpen, severityLook, type Finding } from '#lib/findings/words.ts';
import * as reason from './reason.ts';

type Row = Schemas['TableRow'];

export interface Attention {
  readonly look: Pick<ReturnType<typeof reason.lookOf>, 'icon' | 'word'> & { readonly tone: string };
  readonly critical: boolean;
  /** A word or two. */
  readonly word: string;
  readonly sentence: string;
  /** When it began, epoch ms; null if unknown. */
  readonly at: number | null;
  /** The most severe open finding that is not acknowledged. If null, the other fields come from the reason. */
  readonly top: Finding | null;
  /** The other open findings, the most severe first. */
  readonly others: readonly Finding[];
}

/** An acknowledged finding needs no attention until it is listed again. */
const findingsOf = (row: Row): Finding[] =>
  row.findings.filter((finding) => isOpen(finding) && (finding.acknowledged_until ?? null) === null);

export function attentionOf(row: Row, now: number): Attention {
  const [top, ...others] = findingsOf(row);
  if (!top)
    return {
      look: reason.lookOf(row.reason),
      critical: row.reason.severity === 'critical',
      word: reason.shortReason(row.reason),
      sentence: reason.reasonSentence(row.reason),
      ...{ at: row.reason.at, top: null, others: [] },
    };
  return {
    look: severityLook(top.severity),
    critical: top.severity === 'critical',
    word: codeWord(top.code),
    sentence: `${headlineOf(top, now)}.`,
    ...{ at: top.opened_at, top, others },
  };
}

/** A finding of severity info is worth a look, not attention. */
export function needsAttention(row: Row): boolean {
  const findings = findingsOf(row);
  return findings.length ? findings.some(({ severity }) => severity !== 'info') : reason.needsAttention(row);
}

/** Critical first, then warnings; rows of one severity keep the order of the server. */
export function bySeverity(rows: readonly Row[]): Row[] {
  const weight = (row: Row) => {
    const severity = findingsOf(row)[0]?.severity ?? row.reason.severity;
    return severity === 'critical' ? 0 : severity === 'warning' ? 1 : 2;
  };
  return rows.toSorted((a, b) => weight(a) - weight(b));
}
