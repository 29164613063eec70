import type { KeyboardEvent } from 'react';

/** A row, and a column in grids whose cells have the focus one by one. */
export type GridPosition = { readonly row: number; readonly column: number };

const limit = (value: number, last: number): number => Math.min(Math.max(value, 0), last);

/**
 * Returns the position to which a key moves, or null for other keys. All grids share the keys: arrows, Page Up and Down; Home and
 * End in the row, and in the whole grid with Ctrl. A grid whose rows have the focus has one column, so Home and End move
 * between its rows.
 */
export const moveInGrid = (
  { key, ctrlKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey'>,
  { row, column }: GridPosition,
  end: GridPosition,
  rowsInWindow: number,
): GridPosition | null => {
  const hasOneColumn = end.column === 0;
  const isWholeGrid = ctrlKey || hasOneColumn;
  const page = Math.max(rowsInWindow, 1);
  const steps: Readonly<Record<string, GridPosition>> = {
    ArrowDown: { row: row + 1, column },
    ArrowUp: { row: row - 1, column },
    ...(hasOneColumn ? {} : { ArrowRight: { row, column: column + 1 }, ArrowLeft: { row, column: column - 1 } }),
    PageDown: { row: row + page, column },
    PageUp: { row: row - page, column },
    Home: { row: isWholeGrid ? 0 : row, column: 0 },
    End: { row: isWholeGrid ? end.row : row, column: end.column },
  };
  const next = steps[key];
  return next === undefined ? null : { row: limit(next.row, end.row), column: limit(next.column, end.column) };
};
