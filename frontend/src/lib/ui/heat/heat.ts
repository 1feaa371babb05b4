// A grid of cells by time: how dark a cell is, which one a pointer is on, and where the arrow keys lead. Draws nothing.

export type Level = 0 | 1 | 2 | 3 | 4;

export interface HeatCell {
  /** Null: not known. */
  readonly level: Level | null;
  /** Less than before. */
  readonly fewer?: boolean;
  /** Its number; empty where it is not known. */
  readonly text: string;
  readonly said: string;
}

export interface HeatRow {
  readonly key: string;
  readonly name: string;
  /** The name as short as it may be shown. */
  readonly text: string;
  readonly href?: string;
  readonly cells: readonly HeatCell[];
}

/** 0: no file, 1 to 4: a quarter each of the largest count's decades, null: not read. */
export function level(files: number | null, most: number): Level | null {
  if (files === null) return null;
  if (files <= 0) return 0;
  const share = Math.log10(1 + files) / Math.log10(1 + Math.max(most, 1));
  return Math.min(4, Math.max(1, Math.ceil(share * 4))) as Level;
}

export interface Place {
  readonly row: number;
  readonly column: number;
}

/** Where a key leads in a grid; null: it is none of ours. */
export function movePlace({ row, column }: Place, key: string, rows: number, columns: number): Place | null {
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

/** The cell of a table's body below a pointer, its first column being names; null: none. */
export function placeUnder(event: Event): Place | null {
  const cell = event.target instanceof Element ? event.target.closest('td') : null;
  if (!cell) return null;
  return { row: (cell.parentElement as HTMLTableRowElement).sectionRowIndex, column: cell.cellIndex - 1 };
}
