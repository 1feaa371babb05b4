import { expect, test } from 'vitest';
import { CURRENT, filesHref, filesOf, unreadFiles } from './address.ts';
import { choicesOf } from './choices.ts';
import { storageTree } from './fixtures.ts';
import { keyStep, OPEN_AT_FIRST, rowsOf, sizeText, treeOf, withoutFolder } from './tree.ts';

const ref = { catalog: 'lake', namespace: 'sales', table: 'orders' };
const open = new Set(OPEN_AT_FIRST);

test('metadata file, manifest list and manifests are shown first; a manifest unfolds to its files', () => {
  const root = treeOf(storageTree());
  expect(rowsOf(root, open).map(({ node, level }) => [level, node.name])).toEqual([
    [1, '00007-a.metadata.json'],
    [2, 'snap-1.avro'],
    [3, 'm0.avro'],
    [3, 'm1.avro'],
    [3, '98 other manifests'],
  ]);
  const rows = rowsOf(root, new Set([...open, 'm0']));
  expect(
    rows.slice(3, 6).map(({ node, place, siblings, parent }) => [node.name, place, siblings, parent]),
  ).toEqual([
    ['big.parquet', 1, 3, 2],
    ['small.parquet', 2, 3, 2],
    ['1,838 smaller files', 3, 3, 2],
  ]);
  expect(sizeText(rows[5]!.node)).toBe('1,838 files, 10.0 GB');
  expect(sizeText(rows[3]!.node)).toBe('0.9 GB, 12,000 rows');
  expect(sizeText(rows.at(-1)!.node)).toBe('60 files, 600 kB');
});

test('a snapshot without a manifest list has its manifests below the metadata file', () => {
  const rows = rowsOf(treeOf(storageTree({ list_path: null, list_bytes: null })), open);
  expect(rows[1]).toMatchObject({ level: 2, parent: 0, node: { kind: 'manifest' } });
});

test('arrows move, open and close; other keys are free', () => {
  const rows = rowsOf(treeOf(storageTree()), open);
  const step = (at: number, key: string) => keyStep(rows, at, key, open);
  expect(step(0, 'ArrowDown')).toEqual({ to: 1 });
  expect(step(0, 'ArrowUp')).toEqual({ to: 0 });
  expect(step(2, 'ArrowRight')).toEqual({ toggle: 'm0' });
  expect(step(1, 'ArrowRight')).toEqual({ to: 2 });
  expect(step(2, 'ArrowLeft')).toEqual({ to: 1 });
  expect(step(1, 'ArrowLeft')).toEqual({ toggle: 'list' });
  expect(step(1, 'End')).toEqual({ to: 4 });
  expect(step(4, 'Home')).toEqual({ to: 0 });
  expect(step(4, 'ArrowRight')).toEqual({ to: 4 });
  expect(step(2, 'Enter')).toEqual({ toggle: 'm0' });
  expect(step(2, 'Tab')).toBeNull();
});

test('paths are shown without the folder that all share', () => {
  expect(withoutFolder(['s3://b/t/day=1/a', 's3://b/t/day=2/b'])).toEqual([
    's3://b/t/',
    ['day=1/a', 'day=2/b'],
  ]);
  expect(withoutFolder(['a/x', 'b/y'])).toEqual(['', ['a/x', 'b/y']]);
  expect(withoutFolder(['s3://b/t/a'])).toEqual(['s3://b/t/', ['a']]);
});

test('the address says whose files are shown, and what in it cannot be read', () => {
  expect(filesOf(new URLSearchParams('files=-42'))).toBe('-42');
  expect(filesOf(new URLSearchParams('files=current'))).toBe(CURRENT);
  expect(filesOf(new URLSearchParams('files=<b>'))).toBeNull();
  expect(unreadFiles(new URLSearchParams('files=<b>'))).toEqual(['files']);
  expect(unreadFiles(new URLSearchParams(''))).toEqual([]);
  expect(filesHref(ref, '7', new URLSearchParams('tz=UTC'))).toBe(
    '/t/lake/sales/orders/maintenance?tz=UTC&files=7',
  );
  expect(filesHref(ref, null, new URLSearchParams('files=7'))).toBe('/t/lake/sales/orders/maintenance');
});

test('a snapshot is offered once, with the names of all refs', () => {
  const refs = [
    { name: 'main', type: 'branch', snapshot_id: '9' },
    { name: 'audit', type: 'branch', snapshot_id: '7' },
    { name: 'v1', type: 'tag', snapshot_id: '7' },
  ] as const;
  const offered = (chosen: string) => choicesOf(refs, chosen);
  expect(offered(CURRENT).map(({ label }) => label)).toEqual(['current', 'branch audit, tag v1']);
  expect(offered('5').map(({ value }) => value)).toEqual([CURRENT, '5', '7']);
  expect(offered('7').map(({ value }) => value)).toEqual([CURRENT, '7']);
});
