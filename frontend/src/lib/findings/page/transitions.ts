// The recorded transitions of a finding as what changed with each, the newest first. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { closingCommit, endWord, severityLook, type Finding } from '#lib/findings/words.ts';

type Transition = Schemas['FindingTransition'];

export interface Change {
  readonly seq: number;
  readonly at: number;
  readonly text: string;
}

export function changesOf(finding: Finding, history: readonly Transition[]): Change[] {
  return history
    .map((each, i) => ({ seq: each.seq, at: each.at, text: changeText(finding, each, history[i - 1]) }))
    .toReversed();
}

function changeText(finding: Finding, now: Transition, before: Transition | undefined): string {
  const severity = severityLook(now.severity).word.toLowerCase();
  if (now.state === 'closed') {
    const closed = { ...finding, state: now.state, closed_by: now.closed_by };
    const commit = closingCommit(closed);
    return `${endWord(closed)}${commit ? ` by snapshot ${commit}` : ''}`;
  }
  if (!before) return `Opened as ${severity}`;
  if (before.state === 'closed') return `Opened again as ${severity}`;
  if (before.severity !== now.severity)
    return `Severity changed from ${severityLook(before.severity).word.toLowerCase()} to ${severity}`;
  return 'The effect on jobs or the evidence changed';
}
