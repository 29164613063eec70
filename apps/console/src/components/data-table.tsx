import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './table-frame.module.css';
import { WideTable } from './wide-table.js';

export type DataColumn<R> = {
  readonly header: string;
  readonly cell: (row: R) => ReactNode;
  /** Whether phones leave the column out. */
  readonly isWide?: boolean;
  readonly align?: 'right';
};

type DataTableProps<R> = {
  /** Names the table. */
  readonly label: string;
  readonly columns: readonly DataColumn<R>[];
  readonly rows: readonly R[];
  /** Whether the rows lead to other screens. */
  readonly isLinked?: boolean;
  /** Whether a card is around it. It then has no frame, and scrolls sideways in a narrow window. */
  readonly isInCard?: boolean;
};

/** A table of rows that are all loaded. Lists of any length use `VirtualGrid`. */
export const DataTable = <R extends { readonly id: string }>(props: DataTableProps<R>) => {
  const { label, columns, rows, isLinked = false, isInCard = false } = props;
  const getLook = ({ isWide = false, align }: DataColumn<R>) => ({
    className: isWide ? classes['wide'] : undefined,
    ta: align,
  });
  const content = (
    <>
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <Table.Th key={column.header} {...getLook(column)}>
              {column.header}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.id}>
            {columns.map((column) => (
              <Table.Td key={column.header} {...getLook(column)}>
                {column.cell(row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </>
  );
  if (isInCard) return <WideTable label={label}>{content}</WideTable>;
  return (
    <div className={classes['frame']}>
      <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover={isLinked} aria-label={label}>
        {content}
      </Table>
    </div>
  );
};

/** A line below a cell with what phones have no column for. */
export const NarrowLine = ({ children }: { readonly children: ReactNode }) =>
  children ? <div className={classes['narrow']}>{children}</div> : null;
