import { flexRender, tableFeatures, type Row, type RowData } from '@tanstack/react-table';
import { memo, type ReactNode } from 'react';
import classes from './virtual-grid.module.css';

export type GridColumnMeta = {
  /** A track of a CSS grid, such as `minmax(12rem, 2fr)`. */
  readonly width: string;
  /** The name of the order by this column, in the address. */
  readonly sort?: string;
  /** Whether phones leave the column out. */
  readonly isWide?: boolean;
  /** Whether the cell has a line for itself on phones, above the other cells of its row. One column of each grid has it. */
  readonly isTitle?: boolean;
};

export const features = tableFeatures({ columnMeta: {} as GridColumnMeta });
export type GridFeatures = typeof features;

type RowProps<R extends RowData> = {
  /** Undefined until it is loaded. */
  readonly row: Row<GridFeatures, R> | undefined;
  readonly index: number;
  readonly top: number;
  readonly isActive: boolean;
  /** Undefined in a grid whose rows cannot be selected. */
  readonly isSelected: boolean | undefined;
  readonly selectLabel: string;
  /** Other columns render the row again. */
  readonly columns: readonly unknown[];
};

const GridCells = ({ row }: { readonly row: Row<GridFeatures, RowData> }) =>
  row.getAllCells().map((cell) => {
    const meta = cell.column.columnDef.meta as GridColumnMeta | undefined;
    return (
      <div
        key={cell.id}
        role="gridcell"
        className={classes['cell']}
        data-wide={meta?.isWide}
        data-title={meta?.isTitle}
      >
        {flexRender(cell.column.columnDef.cell, cell.getContext()) as ReactNode}
      </div>
    );
  });

/** The grid handles clicks anywhere in the cell. By keyboard, the row is selected with the space bar. */
const SelectCell = ({
  row,
  isSelected,
  selectLabel,
}: Pick<RowProps<RowData>, 'row' | 'isSelected' | 'selectLabel'>) => (
  <div role="gridcell" className={classes['select']} data-select={row !== undefined}>
    {row && (
      <input
        type="checkbox"
        className={classes['checkbox']}
        tabIndex={-1}
        aria-label={selectLabel}
        checked={isSelected ?? false}
        readOnly
      />
    )}
  </div>
);

const LoadingCell = () => (
  <div role="gridcell" className={classes['cell']} aria-label="Loading">
    <div className={classes['loading']} />
  </div>
);

/** One element before and after its row is loaded, so that it keeps the focus. */
export const GridRow = memo(
  ({ row, index, top, isActive, isSelected, selectLabel }: RowProps<RowData>) => (
    <div
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      aria-selected={isSelected}
      tabIndex={isActive ? 0 : -1}
      className={classes['row']}
      style={{ transform: `translateY(${top}px)` }}
    >
      {isSelected !== undefined && <SelectCell row={row} isSelected={isSelected} selectLabel={selectLabel} />}
      {row ? <GridCells row={row} /> : <LoadingCell />}
    </div>
  ),
  (before, after) =>
    before.row?.original === after.row?.original &&
    before.columns === after.columns &&
    before.index === after.index &&
    before.top === after.top &&
    before.isActive === after.isActive &&
    before.isSelected === after.isSelected,
);
