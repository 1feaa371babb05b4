// A grid of cells by time: how dark a cell is, and where the arrow keys lead. Draws nothing.

/** 0: no file, 1 to 4: a quarter each of the largest count's decades, null: not read. */
export function level(files: number | null, most: number): 0 | 1 | 2 | 3 | 4 | null {
  if (files === null) return null;
  if (files <= 0) return 0;
  const share = Math.log10(1 + files) / Math.log10(1 + Math.max(most, 1));
  return Math.min(4, Math.max(1, Math.ceil(share * 4))) as 1 | 2 | 3 | 4;
}

/** Smallest count of each of the levels 1 to 4. */
export const levelFrom = (most: number): number[] =>
  [0, 1, 2, 3].map((quarter) => Math.max(1, Math.floor((1 + Math.max(most, 1)) ** (quarter / 4))));

export interface Place {
  readonly row: number;
  readonly column: number;
}

/** Where a key leads in a grid; null: it is none of ours. */
export function moved({ row, column }: Place, key: string, rows: number, columns: number): Place | null {
  const clamp = (value: number, most: number) => Math.min(Math.max(value, 0), most - 1);
  switch (key) {
    case 'ArrowLeft':
      return { row, column: clamp(column - 1, columns) };
    case 'ArrowRight':
      return { row, column: clamp(column + 1, columns) };
    case 'ArrowUp':
      return { row: clamp(row - 1, rows), column };
    case 'ArrowDown':
      return { row: clamp(row + 1, rows), column };
    case 'Home':
      return { row, column: 0 };
    case 'End':
      return { row, column: columns - 1 };
    case 'PageUp':
      return { row: clamp(row - 10, rows), column };
    case 'PageDown':
      return { row: clamp(row + 10, rows), column };
    default:
      return null;
  }
}
