import { expect, test } from 'vitest';
import { merges } from './fixtures.ts';
import { modeSentence, perFile, writeModes } from './merges.ts';

const rewriting = merges({
  ...{ merging_commits: 0, rewriting_commits: 12, small_rewrites: 10, rewritten_bytes: 5e11 },
  ...{ fits: 'merge-on-read', because: 'writes_rewrite_much' },
});

test('each verdict names the numbers it follows from', () => {
  expect(modeSentence(merges(), 1)).toBe(
    'Copy-on-write fits: 1 scan in this range merged 0.42 delete files per data file opened, and 31 commits deleted 0.4 % of the rows a day.',
  );
  expect(modeSentence(merges({ fits: 'merge-on-read', because: 'merging_is_cheap' }), 9)).toMatch(
    /^Merge-on-read fits: 9 scans .* merged 0.42/,
  );
  expect(modeSentence(rewriting, 9)).toBe(
    'Merge-on-read fits: 12 commits wrote 500 GB again, of a table of 400 GB; 10 of them dropped at most 1 % of those rows; 9 scans in this range.',
  );
  expect(modeSentence({ ...rewriting, fits: 'copy-on-write', because: 'rewriting_is_cheap' }, 9)).toMatch(
    /^Copy-on-write fits: 12 commits/,
  );
});

test('without a verdict it says what is missing', () => {
  const said = (because: ReturnType<typeof merges>['because']) =>
    modeSentence(merges({ fits: null, because }), 0);
  expect(said('no_scans')).toMatch(/is not known, because no engine reported a scan/);
  expect(said('deletes_unknown')).toMatch(/is not known, because the delete files/);
  expect(said('rewriting_unknown')).toMatch(/is not known, because the rows or bytes/);
  expect(said('no_row_changes')).toMatch(/^No commit in this range deletes/);
});

test('a mode that no property declares is the default', () => {
  expect(writeModes(merges().modes).map(({ property, note }) => `${property} ${note}`)).toEqual([
    'write.delete.mode ',
    'write.update.mode not set, the default',
    'write.merge.mode ',
  ]);
  expect([perFile(0.4213), perFile(12.6)]).toEqual(['0.42', '13']);
});
