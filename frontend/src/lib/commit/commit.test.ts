import { describe, expect, test } from 'vitest';
import { ofRunEffect, sinceCommitSentence } from '#lib/effects/sentence.ts';
import { diffRow, metricName } from './diff.ts';
import { commitDetail, commitRow } from './fixtures.ts';
import { headline, noRunYet } from './headline.ts';
import { rollbackSql } from './rollback.ts';
import { binLabel, binOf, edgeLabel, histogram, usedBins } from './histogram.ts';

describe('the headline', () => {
  test('has the number and the size of the files', () => {
    expect(headline(commitRow())).toBe('50,000 files of 0.9 MB in one append');
  });

  test('calls a replace of many files by few a compaction', () => {
    const row = commitRow({ operation: 'replace', added_data_files: 352, removed_data_files: 50_000 });
    expect(headline(row)).toBe('50,000 files became 352 in one compaction');
  });

  test('leaves out the size that was not read', () => {
    expect(headline(commitRow({ added_data_files: 1, added_bytes: null }))).toBe('1 file in one append');
  });

  test('names delete files and removed files', () => {
    const row = commitRow({
      operation: 'delete',
      added_data_files: 0,
      added_delete_files: 3,
      removed_data_files: 2,
    });
    expect(headline(row)).toBe('3 delete files, 2 files removed in one delete');
  });

  test('says when nothing was read, and when nothing changed', () => {
    const unread = { added_data_files: null, removed_data_files: null, added_delete_files: null };
    expect(headline(commitRow({ ...unread, operation: null }))).toBe('A commit; file counts not read');
    expect(headline(commitRow({ operation: 'overwrite', added_data_files: 0 }))).toBe(
      'An overwrite that changed no files',
    );
  });
});

describe('before and after', () => {
  test('prints each number in its unit and the change with its sign', () => {
    expect(diffRow({ metric: 'bytes', unit: 'bytes', before: 147e9, after: 192e9, delta: 45e9 })).toEqual({
      name: 'Bytes',
      before: '147 GB',
      after: '192 GB',
      change: '+45 GB',
      known: true,
    });
    expect(metricName('average_file_size')).toBe('Average file size');
  });

  test('a side that was not read makes no zero', () => {
    const row = diffRow({ metric: 'manifests', unit: 'manifests', before: 41, after: null, delta: null });
    expect(row).toMatchObject({ after: 'not read', change: 'not read', known: false });
  });
});

describe('the size histogram', () => {
  const edges = [8192, 16_384, 32_768];
  const box = { width: 338, height: 148, left: 38, right: 0, top: 14, bottom: 20 };

  test('labels edges in binary units', () => {
    expect([8192, 1_048_576, 4_294_967_296].map(edgeLabel)).toEqual(['8 KiB', '1 MiB', '4 GiB']);
    expect([0, 1, 3].map((i) => binLabel(edges, i))).toEqual([
      'under 8 KiB',
      '8 KiB to 16 KiB',
      '32 KiB or more',
    ]);
  });

  test('puts a size into its bin, edges into the upper one', () => {
    expect([0, 8191, 8192, 1e9].map((size) => binOf(edges, size))).toEqual([0, 0, 1, 3]);
  });

  test('draws a column for each bin that holds files, none for an empty one', () => {
    const drawn = histogram(edges, null, [0, 5, 0, 7], null, box);
    expect(drawn?.bars.match(/M/g)).toHaveLength(2);
    expect(drawn?.outline).toBe('');
  });

  test('more files make a higher column, on a log axis', () => {
    const tops = [
      ...(histogram(edges, null, [0, 1, 10, 100], null, box)?.bars ?? '').matchAll(/V([\d.]+)h/g),
    ].map((found) => Number(found[1]));
    expect(tops).toHaveLength(3);
    const [one = 0, ten = 0, hundred = 0] = tops;
    expect(one - ten).toBeCloseTo(ten - hundred, 0);
    expect(hundred).toBeCloseTo(box.top, 0);
  });

  test('keeps the target in sight even when no file is near it', () => {
    expect(histogram(edges, null, [4, 0, 0, 0], 20_000, box)?.target).not.toBeNull();
  });

  test('shapes that were not read draw nothing', () => {
    expect(histogram(edges, null, null, 20_000, box)).toBeNull();
    expect(usedBins(null, [0, 0])).toBeNull();
  });
});

test('back to the parent is a statement for plain names on main only', () => {
  const iceberg = { manifest_list: 's3://lake/m.avro' };
  expect(rollbackSql(commitDetail(iceberg))).toBe(
    "CALL lake.system.rollback_to_snapshot('sales.customer_events', 378142004021992640)",
  );
  for (const change of [{ parent_id: null }, { on_main: false }, { table: "x'); DROP TABLE y" }])
    expect(rollbackSql(commitDetail({ ...iceberg, commit: commitRow(change) }))).toBeNull();
  expect(rollbackSql(commitDetail({ manifest_list: null }))).toBeNull();
  expect(rollbackSql(commitDetail({ ...iceberg, expired: true }))).toBeNull();
});

test('a job without a run after the commit is not known yet, with its last run', () => {
  const [effect] = commitDetail().effects;
  if (!effect) throw new Error('the fixture has an effect');
  expect(noRunYet({ ...effect, runs_after: 0, last_run: Date.UTC(2026, 10, 21, 14, 47) })).toBe(
    'churn: not known yet, no run started after the commit has ended; the last one before started at 14:47:00',
  );
  expect(noRunYet({ ...effect, runs_after: 1, last_run: null })).toBeNull();
});

test('an effect of a commit is read as a row of the ledger', () => {
  const [run] = commitDetail().effects;
  expect(run && sinceCommitSentence(ofRunEffect(run))).toBe(
    'churn takes 3.1 times as long since the commit (3 to 3.1 times)',
  );
});
