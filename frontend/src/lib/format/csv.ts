// Comma-separated values that spreadsheets of every country read alike. Pure.

/** What begins so a spreadsheet may take for a formula; some look past blanks, some read the wide forms of these signs. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;
/** Quoted where any spreadsheet splits: at commas, and where the comma is for decimals at semicolons; at tabs when pasted. */
const SPLITS = /[",;\t\r\n]/;

type Cell = string | number | null;

/**
 * RFC 4180, and a text that would be a formula gets an apostrophe in front: names of tables, applications and columns
 * come from whoever wrote them. Null: an empty cell, since it is not known.
 */
function cell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const plain = FORMULA.test(value) ? `'${value}` : value;
  return SPLITS.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Rows as a file's text, the heading first. */
export const csv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => row.map(cell).join(',') + '\r\n').join('');
