import { Table, type TableProps } from '@mantine/core';
import frameClasses from './table-frame.module.css';
import classes from './wide-table.module.css';

type WideTableProps = TableProps & {
  /** Names the table. */
  readonly label: string;
};

/** A table that scrolls sideways in a narrow window. The keyboard reaches it, so that it can scroll there too. */
export const WideTable = ({ label, ...props }: WideTableProps) => (
  <div className={classes['scroll']} tabIndex={0} role="region" aria-label={`Table: ${label}`}>
    <Table className={frameClasses['table']} {...props} aria-label={label} />
  </div>
);
