import type { RowData } from '@tanstack/react-table';
import { useEffect, useRef, type KeyboardEvent, type MouseEvent } from 'react';
import classes from './virtual-grid.module.css';

/** The selected rows of a grid, and the actions that change the selection. */
export type GridSelection<R extends RowData> = {
  readonly isSelected: (row: R) => boolean;
  readonly extent: 'none' | 'some' | 'all';
  /** Names the checkbox of a row. */
  readonly describeRow: (row: R) => string;
  /** Names the checkbox of the header, which selects every row that may be selected, or none. */
  readonly allLabel: string;
  readonly onToggleAll: () => void;
  readonly onToggle: (index: number) => void;
  /** Selects the rows from one index to the other. */
  readonly onSelectRange: (from: number, to: number) => void;
};

type AllCheckboxProps = Pick<GridSelection<never>, 'extent' | 'allLabel' | 'onToggleAll'>;

export const AllCheckbox = ({ extent, allLabel, onToggleAll }: AllCheckboxProps) => {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current) input.current.indeterminate = extent === 'some';
  }, [extent]);
  return (
    <div role="columnheader" className={classes['select']}>
      <input
        ref={input}
        type="checkbox"
        className={classes['checkbox']}
        aria-label={allLabel}
        checked={extent === 'all'}
        onChange={onToggleAll}
      />
    </div>
  );
};

/** Changes the selection by clicks on checkboxes and by keys, with Shift from the previous row that was chosen. */
export const useSelectionInput = <R extends RowData>(selection: GridSelection<R> | undefined) => {
  const previous = useRef<number | null>(null);
  const choose = (index: number, isRange: boolean): void => {
    if (isRange && previous.current !== null) selection?.onSelectRange(previous.current, index);
    else selection?.onToggle(index);
    previous.current = index;
  };
  return {
    /** Gives the focus to the row instead of its checkbox, so that the keys of the grid work after a click. */
    focusRow: (event: MouseEvent): void => {
      const cell = (event.target as Element).closest('[data-select]');
      if (cell === null) return;
      event.preventDefault();
      cell.parentElement?.focus({ preventScroll: true });
    },
    /** Returns whether the click was on the checkbox of the row with this index. */
    click: (event: MouseEvent, index: number | null): boolean => {
      if (selection === undefined || index === null) return false;
      if ((event.target as Element).closest('[data-select="true"]') === null) return false;
      choose(index, event.shiftKey);
      return true;
    },
    /** Returns whether the key selects the row. */
    press: (event: KeyboardEvent, index: number): boolean => {
      if (selection === undefined || event.key !== ' ') return false;
      event.preventDefault();
      choose(index, event.shiftKey);
      return true;
    },
    /** Selects what the keyboard has moved over with Shift. */
    extend: (event: KeyboardEvent, from: number, to: number): void => {
      if (selection === undefined || !event.shiftKey || from === to) return;
      selection.onSelectRange(from, to);
      previous.current = to;
    },
  };
};
