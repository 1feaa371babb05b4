// Comma-separated values that spreadsheets of every country read alike. Pure.

/** What begins so a spreadsheet may take for a formula; some look past blanks, some read the wide forms of these signs. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;
/** What turns the order of writing around or takes no room: a name could look like another one, or hide a formula. */
const UNSEEN = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;
/** Quoted where any spreadsheet splits: at commas, and where the comma is for decimals at semicolons; at tabs when pasted. */
const SPLITS = /[",;\t\r\n]/;

type Cell = string | number | null;

/**
 * RFC 4180, and a text that would be a formula gets an apostrophe in front: names of tables, applications and columns
 * are untrusted. Invisible characters are written as their number. Null: an empty cell, since it is unknown.
 */
function cell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const seen = value.replaceAll(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const plain = FORMULA.test(seen) || FORMULA.test(value.replaceAll(UNSEEN, '')) ? `'${seen}` : seen;
  return SPLITS.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Rows as a file's text, the heading first. */
export const csv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => row.map(cell).join(',') + '\r\n').join('');
