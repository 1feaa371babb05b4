// The steps of a runbook that the server carries (docs/runbooks), with the server's statements for the table. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { inRunbook } from '#lib/runbook/statements.ts';

export interface Step {
  /** What to do, a sentence or what the statement is. */
  readonly text: string;
  readonly language: string | null;
  readonly code: string | null;
  /** Why there is no statement, what was left out of it, or what is still an example. */
  readonly note: string | null;
  /** The statement changes the table. */
  readonly acts: boolean;
}

/** Rules that come with Limnograph: each has a runbook, also where an alert of its name carries no link to it. */
const RULES: readonly string[] = [
  'LakehouseCheckpointsFailing',
  'LakehouseCommitContention',
  'LakehouseCompactionBacklog',
  'LakehouseDeleteFilesGrowing',
  'LakehouseExtractionLag',
  'LakehouseFindingCritical',
  'LakehouseFindingInfo',
  'LakehouseFindingWarning',
  'LakehouseMetadataGrowing',
  'LakehousePartitionSkew',
  'LakehouseSnapshotsTooMany',
  'LakehouseSnapshotsTooOld',
  'LakehouseStreamFailed',
  'LakehouseStreamingLag',
  'LakehouseTableAtRisk',
  'LakehouseTableStale',
  'LimnographBreakerOpen',
  'LimnographCatalogDown',
  'LimnographDown',
  'LimnographInboxWaiting',
  'LimnographPipelineStalled',
  'LimnographTargetDown',
  'LimnographVerificationFailed',
  'SmallFileProliferation',
];
const RUNBOOK = /\/docs\/runbooks\/([a-z0-9-]{1,80})\/?$/;
const LANGUAGES: Record<string, string> = { sql: 'Spark', trino: 'Trino', python: 'PyIceberg', sh: 'Shell' };
const ACTS = /^\s*(CALL|ALTER|DELETE|OPTIMIZE|MERGE)\b/im;
/** Name of one of our runbooks, whatever host its address names; null: it is foreign. */
export function runbookName(url: string | null): string | null {
  if (!url || !URL.canParse(url)) return null;
  return RUNBOOK.exec(new URL(url).pathname)?.[1] ?? null;
}

/** Name of the runbook of one of our rules; null: it is foreign. */
export function runbookOfRule(alertName: string | null): string | null {
  if (alertName === null || !RULES.includes(alertName)) return null;
  return alertName.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

/** Text of one section, by its heading. */
function section(markdown: string, heading: string): string {
  const [, found = ''] = markdown.split(new RegExp(`^## ${heading}\\s*$`, 'm'));
  return found.split(/^## /m)[0] ?? '';
}

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** Steps of "What to run" in the runbook's order; where statements change something, those that only read come last. */
export function stepsOf(markdown: string, statements?: readonly Schemas['RunbookStatement'][]): Step[] {
  const text = section(markdown, 'What to run');
  const steps: Step[] = [];
  let at = 0;
  let block = [...markdown.slice(0, markdown.indexOf(text)).matchAll(FENCE)].length;
  for (const fence of text.matchAll(FENCE)) {
    const said = prose(text.slice(at, fence.index));
    at = fence.index + fence[0].length;
    const [, mark = '', code = ''] = fence;
    const title = said.at(-1)?.endsWith(':') ? said.pop() : undefined;
    steps.push(...said.map(sentence));
    steps.push({
      text: title?.slice(0, -1) ?? LANGUAGES[mark] ?? 'Run',
      language: LANGUAGES[mark] ?? (mark || null),
      ...inRunbook(code.trimEnd(), statements?.[block++]),
      acts: ACTS.test(code),
    });
  }
  steps.push(...prose(text.slice(at)).map(sentence));
  if (!steps.some(({ acts }) => acts)) return steps;
  const first = (step: Step) => step.code === null || step.acts;
  return [...steps.filter(first), ...steps.filter((step) => !first(step))];
}

const sentence = (text: string): Step => ({ text, language: null, code: null, note: null, acts: false });

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
