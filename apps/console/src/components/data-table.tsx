import { Table, VisuallyHidden } from '@mantine/core';
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
  ta: align,
});

/* The roles keep the table a table for screen readers where the styles make cards of its rows. */

type HeadProps = { readonly columns: readonly DataColumn<never>[]; readonly hasActions: boolean };

const DataHead = ({ columns, hasActions }: HeadProps) => (
  <Table.Thead role="rowgroup">
    <Table.Tr role="row">
      {columns.map((column) => (
        <Table.Th key={column.header} role="columnheader" {...getLook(column)}>
          {column.header}
        </Table.Th>
      ))}
      {hasActions && (
        <Table.Th role="columnheader">
          <VisuallyHidden>Actions</VisuallyHidden>
        </Table.Th>
      )}
    </Table.Tr>
  </Table.Thead>
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
      <Table
        className={`${classes['table']} ${classes['cards']}`}
        highlightOnHover={isLinked}
        role="table"
        aria-label={label}
      >
        <DataHead columns={columns} hasActions={actions !== undefined} />
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Table.Tr key={row.id} role="row" data-quiet={isQuiet?.(row) || undefined}>
              {columns.map((column) => (
                <Table.Td key={column.header} role="cell" data-label={column.header} {...getLook(column)}>
                  <div>{column.cell(row)}</div>
                </Table.Td>
              ))}
              {actions && (
                <Table.Td role="cell" data-actions>
                  <RowActions {...actions(row)} />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
};

/** A line below a cell with what narrow tables have no column for. */
export const NarrowLine = ({ children }: { readonly children: ReactNode }) =>
  children ? <div className={classes['narrow']}>{children}</div> : null;
