// Forecasts as Markdown, for a chat or a ticket. Text that others chose stays text. Pure.
import { fullName } from '#lib/api/names.ts';
import { instant } from '#lib/format/instant.ts';
import { markdownText } from '#lib/format/markdown.ts';
import { riskText } from './sentence.ts';
import { metricWord, riskLook, type RiskRow, type RiskState } from './words.ts';

/** A reason alone does not say what it is about. */
const textOf = (row: RiskRow, now: number): string =>
  row.state === 'cannot_say' ? `${metricWord(row.metric)}: ${riskText(row, now)}` : riskText(row, now);

/** `link`: of the page, absolute. */
export function risksMarkdown(
  state: RiskState,
  rows: readonly RiskRow[],
  { asOf, link, now }: { asOf: number | null; link: string; now: number },
): string {
  return [
    `**${riskLook(state).word}**${asOf === null ? '' : `, forecast of ${instant(asOf)}`}`,
    '',
    ...rows.map((row) => `- ${markdownText(fullName(row))}: ${markdownText(textOf(row, now))}`),
    '',
    link,
    '',
  ].join('\n');
}

/** The forecast of one table: each row says its state. */
export function tableRisksMarkdown(
  rows: readonly RiskRow[],
  { asOf, link, now }: { asOf: number | null; link: string; now: number },
): string {
  const [first] = rows;
  return [
    `**Forecast of ${first ? markdownText(fullName(first)) : 'a table'}**${asOf === null ? '' : `, ${instant(asOf)}`}`,
    '',
    ...rows.map((row) => `- ${riskLook(row.state).word}: ${markdownText(textOf(row, now))}`),
    '',
    link,
    '',
  ].join('\n');
}
