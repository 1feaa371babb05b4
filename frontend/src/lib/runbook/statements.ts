// A code block of a runbook: the server's statement for a table, or the template with its placeholders. Pure.
import type { Schemas } from '#lib/api/client.ts';

export type RunbookStatement = Schemas['RunbookStatement'];

const PLACEHOLDERS = /<[a-z][a-z -]*>/g;

/** `statement` undefined: the runbook is not shown for a table, or its statements could not be loaded. */
export function inRunbook(template: string, statement: RunbookStatement | undefined): RunbookStatement {
  if (statement) return statement;
  const open = [...new Set(template.match(PLACEHOLDERS))];
  return {
    code: template,
    note: open.length ? `Example: replace ${open.join(', ')} with your own.` : null,
  };
}
