// What a commit's operation looks like and is called: the shape carries the meaning, the colour repeats it.

/** Outlines in a 16 px box. */
const SHAPES: Record<string, string> = {
  append: 'M8 2.4L13.6 12.5H2.4Z',
  delete: 'M8 13.6L13.6 3.5H2.4Z',
  overwrite: 'M8 2.4L13.6 8L8 13.6L2.4 8Z',
  replace: 'M3.2 3.2h9.6v9.6H3.2Z',
};
const NAMES: Record<string, string> = {
  append: 'Append',
  delete: 'Delete',
  overwrite: 'Overwrite',
  replace: 'Replace (compaction)',
};

/** Null when the operation is not one of the specification's four. */
export const operationShape = (operation: string | null): string | null => SHAPES[operation ?? ''] ?? null;

export const operationName = (operation: string | null): string =>
  operation === null ? 'Operation not read' : (NAMES[operation] ?? operation);
