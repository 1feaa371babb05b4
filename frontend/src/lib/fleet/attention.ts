// Why a table needs attention: the alert that fires for it, its open findings, or, where it has none, its reason. Severity
// comes from these and does not depend on the range on screen. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { headlineOf } from '#lib/findings/headline.ts';
import { codeWord, isOpen, severityLook, type Finding } from '#lib/findings/words.ts';
import { lookOf, nameOf, type AlertRow } from '#lib/alerts/words.ts';
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
  /** The finding of the alert that fires, else the most severe open one that is not acknowledged. If null, the other
   * fields come from the alert or the reason. */
  readonly top: Finding | null;
  /** The other open findings, the most severe first. */
  readonly others: readonly Finding[];
}

/** An acknowledged finding needs no attention until it is listed again. */
const findingsOf = (row: Row): Finding[] =>
  row.findings.filter((finding) => isOpen(finding) && (finding.acknowledged_until ?? null) === null);

/** `alert`: the one that fires for the table. Its own finding is shown, never that of another event. */
export function attentionOf(row: Row, now: number, alert?: AlertRow): Attention {
  const open = findingsOf(row);
  const top = alert ? (alert.finding ?? null) : open[0];
  const others = open.filter(({ finding_id: id }) => id !== top?.finding_id);
  if (alert && !top) return { ...ofAlert(alert), others };
  if (!top)
    return {
      look: reason.lookOf(row.reason),
      critical: row.reason.severity === 'critical',
      word: reason.shortReason(row.reason),
      sentence: reason.reasonSentence(row.reason),
      ...{ at: row.reason.at, top: null, others: [] },
    };
  const { look, critical } =
    alert && !isOpen(top)
      ? ofAlert(alert)
      : { look: severityLook(top.severity), critical: top.severity === 'critical' };
  return {
    look,
    critical,
    word: codeWord(top.code),
    sentence: `${headlineOf(top, now)}.`,
    ...{ at: top.opened_at, top, others },
  };
}

function ofAlert(alert: AlertRow): Omit<Attention, 'others'> {
  const look = lookOf(alert.severity, alert.state);
  return {
    look: { ...look, tone: `c-${look.tone}` },
    critical: look.tone === 'crit',
    word: nameOf(alert),
    sentence: alert.summary ?? 'No finding belongs to this alert.',
    ...{ at: null, top: null },
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
