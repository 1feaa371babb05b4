// The incident as Markdown for a chat or a ticket. Text that others chose stays text. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { nameOf, stateText, tableText, type State } from '#lib/alerts/words.ts';
import { evidenceRows } from '#lib/findings/evidence.ts';
import { sentenceOf } from '#lib/findings/sentence.ts';
import { causingCommit, type Finding } from '#lib/findings/words.ts';
import { instant } from '#lib/format/instant.ts';

/** Text of Markdown that stays text, whatever a name contains. */
const plain = (text: string) => text.replace(/[\\`*_[\]<>|#]/g, '\\$&').replace(/\s+/g, ' ');

export interface Report {
  readonly incident: Schemas['Incident'];
  readonly state: State;
  readonly now: number;
  /** What happened, as the page says it. */
  readonly sentences: readonly string[];
  /** Commits that stand out: id and what it did. */
  readonly suspects: readonly { readonly id: string; readonly text: string }[];
  /** `Files added: 50,000`: what supports the sentences. */
  readonly evidence?: readonly string[];
  /** What to do, a line each. */
  readonly steps: readonly string[];
  /** This page, absolute. */
  readonly link: string;
}

/** What happened according to a finding, in the words of its page. */
export function findingStory(
  finding: Finding,
  now: number,
): Pick<Report, 'sentences' | 'suspects' | 'evidence'> {
  const { headline, cause, effect, state } = sentenceOf(finding, now);
  const commit = causingCommit(finding);
  return {
    sentences: [headline, ...(cause ? [cause] : []), ...effect, state].map((sentence) => `${sentence}.`),
    suspects: commit ? [{ id: commit, text: 'the commit' }] : [],
    evidence: evidenceRows(finding).map(({ label, value }) => `${label}: ${value}`),
  };
}

export function reportOf({ evidence = [], ...report }: Report): string {
  const { incident, state, now, sentences, suspects, steps, link } = report;
  const { alert, active_at: active, links } = incident;
  const runbook = links.find(({ kind, url }) => kind === 'runbook' && url)?.url;
  const about = tableText(alert.table).replaceAll(' / ', '.');
  return [
    `**${plain(nameOf(alert))}**${about ? ` on **${plain(about)}**` : ''}: ${plain([alert.severity, stateText(alert, state, now)].filter(Boolean).join(', '))}`,
    '',
    ...(active === null ? [] : [`- active ${instant(active)}`]),
    `- fired ${instant(alert.starts_at)}`,
    ...(alert.ends_at === null ? [] : [`- resolved ${instant(alert.ends_at)}`]),
    '',
    ...(alert.summary ? [plain(alert.summary), ''] : []),
    ...sentences.map(plain),
    ...suspects.map(({ id, text }) => `- ${plain(text)} \`${id}\``),
    ...evidence.map((each) => `- ${plain(each)}`),
    ...(steps.length ? ['', 'Next:', ...steps.map((step, i) => `${i + 1}. ${plain(step)}`)] : []),
    ...(runbook ? ['', `Runbook: ${runbook}`] : []),
    '',
    link,
    '',
  ].join('\n');
}
