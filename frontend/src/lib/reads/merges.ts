// Which write mode fits a table, as a sentence with its numbers; what is not known is said, and why. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { bytes } from '#lib/format/bytes.ts';
import { count, percent } from '#lib/format/count.ts';

type Merges = Schemas['MergeOnRead'];

const FITS = { 'copy-on-write': 'Copy-on-write fits', 'merge-on-read': 'Merge-on-read fits' } as const;
const plural = (n: number, one: string) => `${count(n)} ${n === 1 ? one : `${one}s`}`;

/** `0.4`: two digits say enough of a ratio. */
export const perFile = (value: number): string => Number(value.toPrecision(2)).toString();

const UNKNOWN = 'Whether copy-on-write or merge-on-read fits is not known, because';

export function modeSentence(merges: Merges, scans: number): string {
  const fits = merges.fits === null ? '' : `${FITS[merges.fits]}: `;
  const read = `${plural(scans, 'scan')} in this range`;
  const merged = `merged ${perFile(merges.merged_files ?? 0)} delete files per data file opened`;
  const marked = `${plural(merges.merging_commits, 'commit')} deleted ${percent(merges.changed_share)} of the rows a day`;
  const rewrote = `${plural(merges.rewriting_commits, 'commit')} wrote ${bytes(merges.rewritten_bytes)} again`;
  const small = `${count(merges.small_rewrites)} of them dropped at most 1 % of those rows`;
  switch (merges.because) {
    case 'no_row_changes':
      return 'No commit in this range deletes or updates rows: both write modes cost the same.';
    case 'no_scans':
      return `${UNKNOWN} no engine reported a scan in this range.`;
    case 'deletes_unknown':
      return `${UNKNOWN} the delete files that scans merged, or the rows in them, are not known.`;
    case 'rewriting_unknown':
      return `${UNKNOWN} the rows or bytes of some commits in this range are not known.`;
    case 'reads_merge_much':
    case 'merging_is_cheap':
      return `${fits}${read} ${merged}, and ${marked}.`;
    case 'writes_rewrite_much':
    case 'rewriting_is_cheap':
      return `${fits}${rewrote}, of a table of ${bytes(merges.bytes)}; ${small}; ${read}.`;
  }
}

export const writeModes = (modes: readonly Schemas['WriteMode'][]) =>
  modes.map(({ operation, mode, declared }) => ({
    property: `write.${operation}.mode`,
    mode,
    note: declared ? '' : 'not set, the default',
  }));
