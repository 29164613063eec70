import type { ReactNode } from 'react';
import frameClasses from './table-frame.module.css';
import classes from './wide-table.module.css';

type WideTableProps = {
  /** Names the table. */
  readonly label: string;
  readonly children: ReactNode;
};

/** A table that scrolls sideways in a narrow window. The keyboard reaches it, so that it can scroll there too. */
export const WideTable = ({ label, children }: WideTableProps) => (
  <div className={classes['scroll']} tabIndex={0} role="region" aria-label={`Table: ${label}`}>
    <table className={frameClasses['table']} aria-label={label}>
      {children}
    </table>
  </div>
);
