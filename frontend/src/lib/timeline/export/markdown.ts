// The timeline as text for other programs and other people: CSV, a summary in Markdown, the questions that were asked.
import { count } from '#lib/format/count.ts';
import { csv } from '#lib/format/csv.ts';
import { instant, iso } from '#lib/format/instant.ts';
import { commitsOf, isSeries, mainColumn, medianOf, type Answer, type Value } from '#lib/api/lanes.ts';
import { lookOf } from '#lib/timeline/shapes/lane-style.ts';
import { changeCount } from '#lib/timeline/shapes/marks.ts';
import { weightOf } from '#lib/timeline/shapes/path.ts';
import { operationName } from '#lib/ui/operation.ts';

/**
 * A row a step: instant (ISO 8601, UTC), the value of each lane at the step's start in its own unit (empty: not known),
 * and the commits of the step, operation and id, so that no spreadsheet takes an id for a number and rounds it.
 */
export function csvOf(answer: Answer): string {
  const lanes = answer.lanes.filter((lane) => isSeries(lane) && lane.status !== 'absent').filter(isSeries);
  const commits = commitsOf(answer);
  const step = answer.range.step * 1000;
  const columns = lanes.flatMap((lane): [name: string, values: readonly Value[]][] => {
    const unit = lane.unit ? ` (${lane.unit})` : '';
    const median = medianOf(lane);
    return [
      [`${lane.id}${unit}`, mainColumn(lane)],
      ...(median ? [[`${lane.id} median${unit}`, median] as [string, readonly Value[]]] : []),
    ];
  });
  const head = ['time', ...columns.map(([name]) => name), 'commits'];
  const rows = answer.t.map((at, i) => {
    const here = commits.filter(({ t }) => t >= at && t < at + step);
    const ids = here.map(({ operation, snapshot_id: id }) => `${operation ?? 'unknown'} ${id}`);
    return [iso(at), ...columns.map(([, values]) => values[i] ?? null), ids.join('; ')];
  });
  return csv([head, ...rows]);
}

/** Text of Markdown that stays text, whatever a name contains. */
const plain = (text: string) => text.replace(/[\\`*_[\]<>|#]/g, '\\$&').replace(/\s+/g, ' ');

const LISTED = 3;

/** What a chat or a ticket needs: which table, which time, what stands out, the largest commits, and the link. */
export function summaryOf(table: string, reason: string, answer: Answer, link: string): string {
  const { from, to } = answer.range;
  const inside = commitsOf(answer).filter(({ t }) => t >= from && t < to);
  const largest = [...inside].sort((a, b) => weightOf(b) - weightOf(a)).slice(0, LISTED);
  const lines = largest.map(
    (commit) =>
      `- ${instant(commit.t)}: ${plain(operationName(commit.operation))}, ${changeCount(commit)} files, \`${commit.snapshot_id}\``,
  );
  return [
    `**${plain(table)}**, ${instant(from)} to ${instant(to)}`,
    '',
    plain(reason),
    '',
    `${count(inside.length)} commits${lines.length ? ', the largest:' : '.'}`,
    ...lines,
    '',
    link,
    '',
  ].join('\n');
}

export interface LaneQuery {
  readonly id: string;
  readonly title: string;
  readonly language: 'PromQL' | 'SQL';
  readonly text: string;
}

/** What the server asked its sources for, a lane each. */
export const queriesOf = (answer: Answer): LaneQuery[] =>
  answer.lanes.flatMap((lane): LaneQuery[] => {
    if (!lane.query) return [];
    const of = (language: LaneQuery['language'], text: string | null | undefined) =>
      text ? [{ id: lane.id, title: lookOf(lane).title, language, text }] : [];
    return [...of('PromQL', lane.query.promql), ...of('SQL', lane.query.sql)];
  });
