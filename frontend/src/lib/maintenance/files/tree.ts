// The files of a snapshot as a tree of rows: metadata file, manifest list, manifests, files. Where only the largest are
// known one by one, a last row has the sum of the others. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { bytes } from '#lib/format/bytes.ts';
import { count } from '#lib/format/count.ts';

type Tree = Schemas['StorageTree'];
type Manifest = Schemas['StoredManifest'];
type File = Schemas['StoredFile'];

export interface FileNode {
  /** Unique in its tree. */
  readonly id: string;
  readonly kind: 'metadata' | 'list' | 'manifest' | 'file' | 'others';
  readonly name: string;
  /** Null: the row is about several files. */
  readonly path: string | null;
  /** What it is: `manifest list`, `data manifest`, `deletion vector`. */
  readonly what: string;
  /** Its own bytes; null: not known, or about several files. */
  readonly bytes: number | null;
  /** Data and delete files below it, and their bytes. */
  readonly files: number | null;
  readonly fileBytes: number | null;
  /** Rows of a data or delete file. */
  readonly records: number | null;
  /** Id of the snapshot that wrote a manifest. */
  readonly addedBy: string | null;
  readonly children: readonly FileNode[];
}

/** A row that is drawn. */
export interface FileRow {
  readonly node: FileNode;
  /** From 1. */
  readonly level: number;
  /** Place among its siblings, from 1, and their number. */
  readonly place: number;
  readonly siblings: number;
  /** Index of the row above it in the tree; -1: it is the root. */
  readonly parent: number;
}

const KINDS: Record<File['content'], string> = {
  data: 'data',
  position_deletes: 'position deletes',
  equality_deletes: 'equality deletes',
  deletion_vector: 'deletion vector',
};
export const contentName = (content: File['content']): string => KINDS[content] ?? content;

/** The last part of a path. */
export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1) || path;

const NOTHING = { bytes: null, files: null, fileBytes: null, records: null, addedBy: null, children: [] };

export function treeOf(tree: Tree): FileNode {
  const manifests = [...tree.manifests.map(manifestNode), ...otherManifests(tree)];
  const below = { files: tree.files, fileBytes: tree.file_bytes };
  const root = {
    ...{ ...NOTHING, ...below, id: 'metadata', kind: 'metadata' as const, what: 'metadata file' },
    ...{ name: fileName(tree.metadata_path), path: tree.metadata_path, bytes: tree.metadata_bytes },
  };
  if (tree.list_path === null) return { ...root, children: manifests };
  const list: FileNode = {
    ...{ ...NOTHING, ...below, id: 'list', kind: 'list', what: 'manifest list' },
    ...{ name: fileName(tree.list_path), path: tree.list_path, bytes: tree.list_bytes, children: manifests },
  };
  return { ...root, children: [list] };
}

function manifestNode(manifest: Manifest, at: number): FileNode {
  const { path, content, added_by: addedBy, files, file_bytes: fileBytes, largest } = manifest;
  return {
    ...{ ...NOTHING, id: `m${at}`, kind: 'manifest', path, name: fileName(path), bytes: manifest.bytes },
    ...{ what: content === 'data' ? 'data manifest' : 'delete manifest', files, fileBytes, addedBy },
    children: [...largest.map((file, i) => fileNode(file, `m${at}f${i}`)), ...otherFiles(manifest, at)],
  };
}

const fileNode = ({ path, content, bytes: size, records }: File, id: string): FileNode => ({
  ...{ ...NOTHING, id, kind: 'file', path, name: fileName(path), what: contentName(content) },
  ...{ bytes: size, records },
});

function otherFiles({ files, file_bytes: size, largest }: Manifest, at: number): FileNode[] {
  const rest = files - largest.length;
  if (rest <= 0) return [];
  const left = size - largest.reduce((sum, file) => sum + file.bytes, 0);
  return [others(`m${at}rest`, `${count(rest)} smaller ${rest === 1 ? 'file' : 'files'}`, rest, left)];
}

function otherManifests({ manifests, manifest_count: all, files, file_bytes: size }: Tree): FileNode[] {
  const rest = all - manifests.length;
  if (rest <= 0) return [];
  const sum = (of: (manifest: Manifest) => number) => manifests.reduce((total, each) => total + of(each), 0);
  const name = `${count(rest)} other ${rest === 1 ? 'manifest' : 'manifests'}`;
  return [others('rest', name, files - sum((each) => each.files), size - sum((each) => each.file_bytes))];
}

const others = (id: string, name: string, files: number, fileBytes: number): FileNode => ({
  ...{ ...NOTHING, id, kind: 'others', name, path: null, what: '', files, fileBytes },
});

/** What is open at first: the list of manifests. */
export const OPEN_AT_FIRST: readonly string[] = ['metadata', 'list'];

/** Rows that are drawn, top to bottom, if the nodes `open` are. */
export function rowsOf(root: FileNode, open: ReadonlySet<string>): FileRow[] {
  const rows: FileRow[] = [];
  const add = (node: FileNode, level: number, place: number, siblings: number, parent: number) => {
    const index = rows.push({ node, level, place, siblings, parent }) - 1;
    if (open.has(node.id))
      node.children.forEach((child, i) => add(child, level + 1, i + 1, node.children.length, index));
  };
  add(root, 1, 1, 1, -1);
  return rows;
}

/** What a key of a tree does at a row: moves to another one, or opens or closes it. Null: nothing, the key is free. */
export function keyStep(
  rows: readonly FileRow[],
  at: number,
  key: string,
  open: ReadonlySet<string>,
): { readonly to: number } | { readonly toggle: string } | null {
  const row = rows[at];
  if (!row) return null;
  const { id, children } = row.node;
  const isOpen = open.has(id) && children.length > 0;
  switch (key) {
    case 'ArrowDown':
      return { to: Math.min(at + 1, rows.length - 1) };
    case 'ArrowUp':
      return { to: Math.max(at - 1, 0) };
    case 'Home':
      return { to: 0 };
    case 'End':
      return { to: rows.length - 1 };
    case 'ArrowRight':
      if (!children.length) return { to: at };
      return isOpen ? { to: at + 1 } : { toggle: id };
    case 'ArrowLeft':
      return isOpen ? { toggle: id } : { to: Math.max(row.parent, 0) };
    case 'Enter':
    case ' ':
      return children.length ? { toggle: id } : { to: at };
    default:
      return null;
  }
}

/** `1,840 files, 11 GB`: what is below a row, or what a file holds. */
export function sizeText({ kind, files, fileBytes, bytes: own, records }: FileNode): string {
  if (kind === 'file') return `${bytes(own)}, ${count(records)} ${records === 1 ? 'row' : 'rows'}`;
  return `${count(files)} ${files === 1 ? 'file' : 'files'}, ${bytes(fileBytes)}`;
}

/** Paths without the folder that all of them share, which comes first; an empty folder where they share none. */
export function withoutFolder(paths: readonly string[]): readonly [folder: string, names: readonly string[]] {
  const [first = ''] = paths;
  let end = first.lastIndexOf('/') + 1;
  while (end > 0 && !paths.every((path) => path.startsWith(first.slice(0, end))))
    end = first.lastIndexOf('/', end - 2) + 1;
  return [first.slice(0, end), paths.map((path) => path.slice(end))];
}
