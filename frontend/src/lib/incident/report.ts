// The incident as Markdown for a chat or a ticket. Text that others chose stays text. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { nameOf, stateText, tableText, type State } from '#lib/alerts/words.ts';
import { evidenceRows } from '#lib/findings/evidence.ts';
import { sentenceOf } from '#lib/findings/sentence.ts';
import { causingCommit, type Finding } from '#lib/findings/words.ts';
import { instant } from '#lib/format/instant.ts';
import { markdownText } from '#lib/format/markdown.ts';
import { noteLines, type Note } from '#lib/notes/words.ts';

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
  /** What the team wrote. */
  readonly notes?: readonly Note[];
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

export function reportOf({ evidence = [], notes = [], ...report }: Report): string {
  const { incident, state, now, sentences, suspects, steps, link } = report;
  const { alert, active_at: active, links } = incident;
  const runbook = links.find(({ kind, url }) => kind === 'runbook' && url)?.url;
  const about = tableText(alert.table).replaceAll(' / ', '.');
  return [
    `**${markdownText(nameOf(alert))}**${about ? ` on **${markdownText(about)}**` : ''}: ${markdownText([alert.severity, stateText(alert, state, now)].filter(Boolean).join(', '))}`,
    '',
    ...(active === null ? [] : [`- active ${instant(active)}`]),
    `- fired ${instant(alert.starts_at)}`,
    ...(alert.ends_at === null ? [] : [`- resolved ${instant(alert.ends_at)}`]),
    '',
    ...(alert.summary ? [markdownText(alert.summary), ''] : []),
    ...sentences.map(markdownText),
    ...suspects.map(({ id, text }) => `- ${markdownText(text)} \`${id}\``),
    ...evidence.map((each) => `- ${markdownText(each)}`),
    ...(incident.finding?.owner ? [`- Owner: ${markdownText(incident.finding.owner)}`] : []),
    ...noteLines(notes),
    ...(steps.length ? ['', 'Next:', ...steps.map((step, i) => `${i + 1}. ${markdownText(step)}`)] : []),
    ...(runbook ? ['', `Runbook: ${runbook}`] : []),
    '',
    link,
    '',
  ].join('\n');
}
