import '../../../app.css';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { userEvent } from 'vitest/browser';
import { axeFindings, doubleIds } from '../../../test/axe.ts';
import { storageTree } from './fixtures.ts';
import FileTree from './FileTree.svelte';
import LargestFiles from './LargestFiles.svelte';
import RefBytes from './RefBytes.svelte';

const table = { catalog: 'lake', namespace: 'sales', table: 'orders' };

test('the tree has one tab stop, which follows the focus, and shows the row in full', async () => {
  const screen = await render(FileTree, { tree: storageTree(), table });
  const tree = screen.getByRole('tree', { name: 'Files of the snapshot' });
  await expect.element(tree.getByRole('treeitem').nth(4)).toBeVisible();
  expect(tree.getByRole('treeitem').elements()).toHaveLength(5);
  (tree.getByRole('treeitem').first().element() as HTMLElement).focus();
  await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowRight}');
  const manifest = tree.getByRole('treeitem', { name: /^m0.avro/ });
  await expect.element(manifest).toHaveFocus();
  await expect.element(manifest).toHaveAttribute('aria-expanded', 'true');
  await expect.element(manifest).toHaveAttribute('aria-level', '3');
  const details = screen.getByRole('group', { name: 'Selected file' });
  await expect
    .element(details.getByRole('link', { name: '77' }))
    .toHaveAttribute('href', '/t/lake/sales/orders/commits/77');
  await userEvent.keyboard('{ArrowRight}');
  await expect.element(tree.getByRole('treeitem', { name: /^big.parquet/ })).toHaveFocus();
  await expect.element(details.getByText(/data\/day=2026-11-20\/big.parquet/)).toBeVisible();
  await expect.element(details.getByRole('button', { name: 'Copy path of big.parquet' })).toBeVisible();
  expect(tree.element().querySelectorAll('[tabindex="0"]')).toHaveLength(1);
  await userEvent.keyboard('{ArrowLeft}{ArrowLeft}');
  await expect.element(manifest).toHaveAttribute('aria-expanded', 'false');
  expect(await axeFindings()).toEqual([]);
  expect(doubleIds()).toEqual([]);
});

test('files of a table that is partitioned by a private column have no folder, with the reason', async () => {
  const files = storageTree().largest.map((file) => ({ ...file, path: '(private)/a.parquet' }));
  const screen = await render(LargestFiles, { files });
  await expect.element(screen.getByText(/partitioned by a private column/)).toBeVisible();
  expect(screen.getByRole('button', { name: /^Copy path/ }).elements()).toHaveLength(files.length);
});

test('bytes that are not known have a reason, and a ref no number', async () => {
  const data = {
    ...{ catalog: 'lake', namespace: 'sales', table: 'orders', format: 'hudi', status: 'ok' as const },
    ...{ watermark: null, notes: [], read_at: 0, tree: null, tree_missing: 'no files', bytes: null },
    bytes_missing: 'bytes by snapshot are not read for tables of format hudi',
  };
  const refs = [{ name: 'audit', type: 'branch', snapshot_id: '7' }] as const;
  const screen = await render(RefBytes, { data, refs, chosen: '7', onchoose: () => {} });
  await expect.element(screen.getByText(/Bytes are not known: bytes by snapshot/)).toBeVisible();
  await expect.element(screen.getByText(/^not known/)).toBeVisible();
  await expect
    .element(screen.getByRole('button', { name: 'Show files of audit' }))
    .toHaveAttribute('aria-pressed', 'true');
});
