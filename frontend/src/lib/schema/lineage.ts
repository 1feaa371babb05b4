// What the page says about the origin of a table's columns. Draws nothing.
import type { Schemas } from '#lib/api/client.ts';
import { count } from '#lib/format/count.ts';

type Source = Schemas['ColumnSource'];

export const NO_LINEAGE =
  'No run has reported column lineage. Send OpenLineage events to POST /api/v1/lineage to see it here.';
export const OWN_TABLE_ONLY =
  'A run names only this table as the origin: it updated rows, or merged rows whose origin OpenLineage does not report for MERGE.';

/** `3 of 5 columns known, 1 masked`. */
export function lineageSummary(columns: readonly Source[]): string {
  const known = columns.filter((column) => column.origins.length).length;
  const masked = columns.filter((column) => column.masked).length;
  const said = `${count(known)} of ${count(columns.length)} ${columns.length === 1 ? 'column' : 'columns'} known`;
  return masked ? `${said}, ${count(masked)} masked` : said;
}

/** Whether the values of a column are masked; a later run of unknown origin may have written others. */
export function maskingWord(column: Source): string {
  if (column.masked === null) return column.origins.length ? 'not reported' : 'unknown';
  return column.masked ? 'masked' : 'not masked';
}
