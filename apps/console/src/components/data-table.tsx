import { VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { RowActions, type RowActionsProps } from './row-actions.js';
import classes from './table-frame.module.css';

export type DataColumn<R> = {
  readonly header: string;
  readonly cell: (row: R) => ReactNode;
  /** Whether narrow tables leave the column out. */
  readonly isWide?: boolean;
  readonly align?: 'right';
  /** Whether the column takes the width that the others leave. Its texts, and those of the others, have one line. */
  readonly isFilling?: boolean;
};

type DataTableProps<R> = {
  /** Names the table. */
  readonly label: string;
  readonly columns: readonly DataColumn<R>[];
  readonly rows: readonly R[];
  /** The actions of a row, in a column of their own at the end. */
  readonly actions?: ((row: R) => RowActionsProps) | undefined;
  /** Whether the rows lead to other screens. */
  readonly isLinked?: boolean;
  /** Whether a card is around it. It then has no frame. */
  readonly isInCard?: boolean;
  /** Whether it can have so many columns that it scrolls sideways. The keyboard then reaches it. */
  readonly canScroll?: boolean;
  /** Whether the row is shown quietly, such as a value that another one overrides. */
  readonly isQuiet?: (row: R) => boolean;
};

const getLook = ({ isWide = false, isFilling = false, align }: DataColumn<never>) => ({
  className: [isWide && classes['wide'], isFilling && classes['filling']].filter(Boolean).join(' ') || undefined,
  style: { textAlign: align },
});

/** The roles keep the table a table for screen readers where the styles make cards of its rows. */
const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  head: { role: 'columnheader' },
  cell: { role: 'cell' },
} as const;

type HeadProps = { readonly columns: readonly DataColumn<never>[]; readonly hasActions: boolean };

const DataHead = ({ columns, hasActions }: HeadProps) => (
  <thead {...ROLES.group}>
    <tr {...ROLES.row}>
      {columns.map((column) => (
        <th key={column.header} {...ROLES.head} {...getLook(column)}>
          {column.header}
        </th>
      ))}
      {hasActions && (
        <th {...ROLES.head}>
          <VisuallyHidden>Actions</VisuallyHidden>
        </th>
      )}
    </tr>
  </thead>
);

/**
 * A table of rows that are all loaded. Lists of any length use `VirtualGrid`. A narrow table shows its rows as cards: the first
 * column is the title, and each of the others is a line.
 */
export const DataTable = <R extends { readonly id: string }>(props: DataTableProps<R>) => {
  const { label, columns, rows, actions, isLinked = false, isInCard = false, canScroll = false, isQuiet } = props;
  const scrolling = canScroll ? { tabIndex: 0, role: 'region', 'aria-label': `Table: ${label}` } : {};
  return (
    <div className={classes['frame']} data-card={isInCard || undefined} {...scrolling}>
      <table
        className={`${classes['table']} ${classes['cards']}`}
        data-linked={isLinked || undefined}
        {...ROLES.table}
        aria-label={label}
      >
        <DataHead columns={columns} hasActions={actions !== undefined} />
        <tbody {...ROLES.group}>
          {rows.map((row) => (
            <tr key={row.id} {...ROLES.row} data-quiet={isQuiet?.(row) || undefined}>
              {columns.map((column) => (
                <td key={column.header} {...ROLES.cell} data-label={column.header} {...getLook(column)}>
                  <div>{column.cell(row)}</div>
                </td>
              ))}
              {actions && (
                <td {...ROLES.cell} data-actions>
                  <RowActions {...actions(row)} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

/** A line below a cell with what narrow tables have no column for. */
export const NarrowLine = ({ children }: { readonly children: ReactNode }) =>
  children ? <div className={classes['narrow']}>{children}</div> : null;
