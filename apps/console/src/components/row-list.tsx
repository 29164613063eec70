import type { ReactNode } from 'react';
import classes from './row-list.module.css';

/** Longer lists can be too high for their frame. */
const MAX_ROWS_IN_FRAME = 5;

type RowListProps = {
  /** Names the list. */
  readonly label: string;
  readonly kind?: 'change';
  readonly count: number;
  /** `li` elements. */
  readonly children: ReactNode;
};

/** A list in a frame of limited height. It scrolls by keyboard too. */
export const RowList = ({ label, kind, count, children }: RowListProps) => (
  <ul
    className={classes['rows']}
    data-kind={kind}
    tabIndex={count > MAX_ROWS_IN_FRAME ? 0 : undefined}
    aria-label={label}
  >
    {children}
  </ul>
);
