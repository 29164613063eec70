import type { ColumnDef, RowData } from '@tanstack/react-table';
import type { GridColumnMeta, GridFeatures } from './grid-row.js';
import { AllCheckbox, type GridSelection } from './grid-selection.js';
import { ArrowDownIcon, ArrowUpIcon } from './icons.js';
import classes from './virtual-grid.module.css';

export type GridColumn<R extends RowData> = ColumnDef<GridFeatures, R> & {
  readonly id: string;
  readonly header: string;
  readonly meta: GridColumnMeta;
};

type HeaderProps = {
  readonly column: GridColumn<never>;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
};

/** The names of the columns, with buttons that sort. */
const GridHeader = ({ column: { header, meta }, sort, onSort }: HeaderProps) => {
  const descending = `-${meta.sort ?? ''}`;
  const isSorted = meta.sort !== undefined && (sort === meta.sort || sort === descending);
  const order = sort === descending ? 'descending' : 'ascending';
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? order : undefined}
      className={classes['cell']}
      data-wide={meta.isWide}
    >
      {meta.sort === undefined ? (
        header
      ) : (
        <button
          type="button"
          className={classes['sort']}
          onClick={() => onSort(sort === meta.sort ? descending : (meta.sort ?? ''))}
        >
          {header}
          {isSorted && (order === 'ascending' ? <ArrowUpIcon size={14} /> : <ArrowDownIcon size={14} />)}
        </button>
      )}
    </div>
  );
};

type HeadProps = Omit<HeaderProps, 'column'> & {
  readonly columns: readonly GridColumn<never>[];
  readonly selection: GridSelection<never> | undefined;
};

/** The names of the columns, with buttons that sort. */
export const GridHead = ({ columns, selection, ...order }: HeadProps) => (
  <div role="rowgroup" className={classes['head']}>
    <div role="row" aria-rowindex={1} className={classes['headings']}>
      {selection && <AllCheckbox {...selection} />}
      {columns.map((column) => (
        <GridHeader key={column.id} column={column} {...order} />
      ))}
    </div>
  </div>
);
