// A finding as Markdown, for a chat, a ticket or a post-mortem: verdict, evidence, cause, effect, link. Text that others
// chose stays text. Pure.
import { fullName } from '#lib/api/names.ts';
import { instant } from '#lib/format/instant.ts';
import { markdownText } from '#lib/format/markdown.ts';
import { evidenceRows } from '#lib/findings/evidence.ts';
import { sentenceOf } from '#lib/findings/sentence.ts';
import { noteLines, type Note } from '#lib/notes/words.ts';
import { causingCommit, codeWord, lookOf, refOf, type Finding } from '#lib/findings/words.ts';

/** `notes`: on the finding; `link`: of the page, absolute. */
export function findingSummary(finding: Finding, notes: readonly Note[], link: string, now: number): string {
  const text = sentenceOf(finding, now);
  const ref = refOf(finding);
  const about = ref ? fullName(ref) : `table ${finding.table_uuid}`;
  const commit = causingCommit(finding);
  const cause = text.cause ?? 'not known';
  return [
    `**${lookOf(finding).word}: ${markdownText(text.headline)}**`,
    '',
    `- Table: ${markdownText(about)} (${codeWord(finding.code)})`,
    `- State: ${markdownText(text.state)}`,
    `- Opened: ${instant(finding.opened_at)}`,
    `- Cause: ${markdownText(cause)}${commit && /^-?\d+$/.test(commit) ? ` (commit \`${commit}\`)` : ''}`,
    ...text.effect.map((each) => `- Effect: ${markdownText(each)}`),
    ...evidenceRows(finding).map(({ label, value }) => `- ${label}: ${markdownText(value)}`),
    ...(finding.owner ? [`- Owner: ${markdownText(finding.owner)}`] : []),
    `- Next: ${text.next.advice}`,
    ...noteLines(notes),
    '',
    link,
    '',
  ].join('\n');
}
