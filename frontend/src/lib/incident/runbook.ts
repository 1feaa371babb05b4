// The steps of a runbook that the server carries (docs/runbooks), for the table of the alert. Pure.
// Statements are copied and run by people: a name enters one only when it is plain letters, digits and underscores.
import type { TableRef } from '#lib/api/names.ts';

export interface Step {
  /** What to do, a sentence or what the statement is. */
  readonly text: string;
  readonly language: string | null;
  readonly code: string | null;
  /** The statement changes the table. */
  readonly acts: boolean;
}

/** Rules that come with Limnograph: each has a runbook, also where an alert of its name carries no link to it. */
const RULES: readonly string[] = [
  'LakehouseCommitContention',
  'LakehouseCompactionBacklog',
  'LakehouseDeleteFilesGrowing',
  'LakehouseExtractionLag',
  'LakehouseMetadataGrowing',
  'LakehousePartitionSkew',
  'LakehouseSnapshotsTooMany',
  'LakehouseStreamingLag',
  'LakehouseTableStale',
  'LimnographDown',
  'SmallFileProliferation',
];
const RUNBOOK = /\/docs\/runbooks\/([a-z0-9-]{1,80})\/?$/;
const LANGUAGES: Record<string, string> = { sql: 'Spark', trino: 'Trino', python: 'PyIceberg', sh: 'Shell' };
const ACTS = /^\s*(CALL|ALTER|DELETE|OPTIMIZE|MERGE)\b/im;
const PLAIN = /^[A-Za-z_]\w*$/;
/** The table that all runbooks write their statements for. */
const EXAMPLE = { catalog: 'lake', namespace: 'sales', table: 'customer_events' };

/** Name of a runbook of ours, whatever host its address names; null: it is somebody else's. */
export function runbookName(url: string | null): string | null {
  if (!url || !URL.canParse(url)) return null;
  return RUNBOOK.exec(new URL(url).pathname)?.[1] ?? null;
}

/** Name of the runbook of a rule of ours; null: it is somebody else's. */
export function runbookOfRule(alertName: string | null): string | null {
  if (alertName === null || !RULES.includes(alertName)) return null;
  return alertName.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

/** Whether a statement can carry this table's name as it stands. */
export const isPlain = ({ catalog, namespace, table }: TableRef): boolean =>
  [catalog, ...namespace.split('.'), table].every((level) => PLAIN.test(level));

/** A statement of the runbook with the table's own name in it. */
export function forTable(code: string, ref: TableRef): string {
  const { catalog, namespace, table } = EXAMPLE;
  return code
    .replaceAll(`${catalog}.${namespace}.`, `${ref.catalog}.${ref.namespace}.`)
    .replaceAll(new RegExp(`(['"])${namespace}\\.${table}\\1`, 'g'), `$1${ref.namespace}.${ref.table}$1`)
    .replaceAll(`${catalog}.system.`, `${ref.catalog}.system.`)
    .replaceAll(`load_catalog("${catalog}")`, `load_catalog("${ref.catalog}")`)
    .replaceAll(table, ref.table);
}

/** Text of one section, by its heading. */
function section(markdown: string, heading: string): string {
  const [, found = ''] = markdown.split(new RegExp(`^## ${heading}\\s*$`, 'm'));
  return found.split(/^## /m)[0] ?? '';
}

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** Steps of "What to run": what changes something first, in the runbook's order; statements are for `ref`. */
export function stepsOf(markdown: string, ref: TableRef | null): Step[] {
  const text = section(markdown, 'What to run');
  const steps: Step[] = [];
  let at = 0;
  for (const fence of text.matchAll(FENCE)) {
    const said = prose(text.slice(at, fence.index));
    at = fence.index + fence[0].length;
    const [, mark = '', code = ''] = fence;
    const title = said.at(-1)?.endsWith(':') ? said.pop() : undefined;
    steps.push(...said.map(sentence));
    steps.push({
      text: title?.slice(0, -1) ?? LANGUAGES[mark] ?? 'Run',
      language: LANGUAGES[mark] ?? (mark || null),
      code: (ref && isPlain(ref) ? forTable(code, ref) : code).trimEnd(),
      acts: ACTS.test(code),
    });
  }
  steps.push(...prose(text.slice(at)).map(sentence));
  const first = (step: Step) => step.code === null || step.acts;
  return [...steps.filter(first), ...steps.filter((step) => !first(step))];
}

const sentence = (text: string): Step => ({ text, language: null, code: null, acts: false });

/** Sentences of the paragraphs; marks of Markdown are left out. */
const prose = (text: string): string[] =>
  text
    .replaceAll(/[*`]/g, '')
    .split(/\n\s*\n/)
    .flatMap((paragraph) =>
      paragraph
        .replaceAll(/\s+/g, ' ')
        .trim()
        .split(/(?<=[.:]) (?=[A-Z])/),
    )
    .filter(Boolean);

/** When an alert of this kind may be left alone. */
export const ignorableWhen = (markdown: string): string =>
  prose(section(markdown, 'When to ignore it')).join(' ');
