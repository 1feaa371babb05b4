// An explanation as Markdown, for the post-mortem. It says "caused by" only where a person confirmed it. Pure.
import { percent } from '#lib/format/count.ts';
import { iso, span } from '#lib/format/instant.ts';
import { casesOf, namedIn, type Hypothesis, type Label, type Page } from './case.ts';
import { competingLines } from './competing.ts';
import {
  boundsWords,
  commitWords,
  effectWords,
  gradeWords,
  labelWords,
  lastRunWords,
  leadWords,
  pendingWords,
  rivalWords,
  verdict,
} from './words.ts';

/** Text that others chose stays text: no link, no markup, no table of its own. */
const plain = (text: string) => text.replace(/[\\`*_{}[\]()#+!|<>~]/g, '\\$&').replace(/\s+/g, ' ');

export function explanationSummary(page: Page, labels: readonly Label[], link: string): string {
  const cases = casesOf(page, labels);
  const [first] = cases;
  const named = first && namedIn(first);
  const lines = [`**${plain(verdict(page, first))}**`, ''];
  const waits = [first ? pendingWords(page) : null, lastRunWords(page)].filter((words) => words !== null);
  if (waits.length) lines.push(`- ${plain(waits.join(' '))}`);
  if (first)
    lines.push(`- ${plain(effectWords(page, first.change))} ${boundsWords(first.change, first.around)}`);
  if (named) lines.push(...suspectLines(named));
  lines.push(
    `- Explained: ${iso(page.from)} to ${iso(page.to)}, compared with ${span(page.baseline.from, page.baseline.to)}`,
  );
  if (first) {
    lines.push('', '| explanation | probability | commit |', '| --- | ---: | --- |');
    for (const each of first.hypotheses) lines.push(row(each));
  }
  if (first) for (const { words } of competingLines(first.around)) lines.push('', plain(words));
  for (const note of page.notes) lines.push('', plain(note));
  return [...lines, '', link, ''].join('\n');
}

function suspectLines(named: Hypothesis): string[] {
  const { record, commit } = named;
  const writer = commit && (commit.app_name ?? commit.app_id ?? commit.engine);
  const by = writer ? `, written by ${plain(writer)}` : '';
  const said = labelWords(named);
  const against = (record.evidence ?? []).filter(({ speaks }) => speaks === 'against');
  return [
    `- Commit \`${record.commit_id ?? ''}\` of ${plain(record.table ?? '')}, ${leadWords(named)}${by}; link to the job: ${gradeWords(named)?.[0] ?? 'unknown'}`,
    ...(said ? [`- ${plain(said)}`] : []),
    ...against.map(({ text }) => `- Against: ${plain(text)}`),
  ];
}

function row(each: Hypothesis): string {
  const commit = each.record.kind === 'commit';
  const name = commit ? commitWords(each) : rivalWords(each)[0];
  const said = labelWords(each);
  const id = commit ? `\`${each.record.commit_id ?? ''}\`` : '';
  return `| ${plain(name)}${said ? ` (${plain(said)})` : ''} | ${percent(each.posterior)} | ${id} |`;
}
