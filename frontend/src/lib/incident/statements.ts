// Statements of a runbook filled in for one table: its names, a date, the rows that the commit wrote. Pure.
// Users copy and run statements: nothing of the runbook's example may pass for something of the table.
import type { Schemas } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';

export interface FilledStatement {
  readonly code: string;
  /** What was left out of it and why, or what is still to put in; null: it can be run as it is. */
  readonly note: string | null;
}

const PLAIN = /^[A-Za-z_]\w*$/;
/** The table that all runbooks write their statements for. */
const EXAMPLE = { catalog: 'lake', namespace: 'sales', table: 'customer_events' };
const WEEK_MS = 7 * 86_400_000;
const ROWS = '<partition predicate>';
const TO_PUT_IN = /<[a-z][a-z ]*>/g;

/** Whether a statement can carry this table's name unquoted. */
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

/** `ref` null: which table is not known. `touched`: the rows that the commit wrote; `now` epoch ms. */
export function fill(
  code: string,
  ref: TableRef | null,
  touched: Schemas['TouchedRows'] | null,
  now: number,
): FilledStatement {
  const named = ref && isPlain(ref) ? forTable(code, ref) : code;
  const dated = named.replaceAll('<a week ago>', midnight(now - WEEK_MS));
  const { code: filled, note } = dated.includes(ROWS)
    ? withRows(dated, touched)
    : { code: dated, note: null };
  const open = [...new Set(filled.match(TO_PUT_IN))];
  return {
    code: filled,
    note: open.length ? `Example: replace ${open.join(', ')} with your own.` : note,
  };
}

function withRows(code: string, touched: Schemas['TouchedRows'] | null): FilledStatement {
  const inSpark = code.includes(`'${ROWS}'`);
  const sql = touched?.spark_sql;
  if (inSpark && sql) return { code: code.replace(`'${ROWS}'`, () => sparkLiteral(sql)), note: touched.note };
  const without = code.replace(/\n\s*where => '<partition predicate>',|\s+WHERE <partition predicate>/g, '');
  const why = !inSpark
    ? 'No partition filter: only the Spark statement has one.'
    : (touched?.note ?? 'No partition filter: the partitions of the commit are unknown.');
  return { code: without, note: `${why} The statement affects the whole table.` };
}

/** A literal that Spark SQL reads as `text`; `${` would be a reference to a variable. */
export const sparkLiteral = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('${', '\\u0024{')}'`;

/** `2026-11-14 00:00:00`, in UTC. */
const midnight = (at: number): string => `${new Date(at).toISOString().slice(0, 10)} 00:00:00`;
