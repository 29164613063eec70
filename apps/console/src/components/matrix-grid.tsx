import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { useColumnWidth } from './column-width.js';
import { moveInGrid, type GridPosition } from './grid-keys.js';
import classes from './matrix-grid.module.css';

/* A grid of any number of rows and columns. It renders the cells in the window only; rows can be absent until they load. */

type MatrixColumn = { readonly id: string; readonly label: string; readonly header?: ReactNode };

type MatrixRowHeader = {
  readonly label: string;
  readonly header?: ReactNode;
  /** Whether the row is the heading of the rows below it. */
  readonly isGroup?: boolean;
};

/** `label` is what a screen reader reads. */
export type MatrixCell = { readonly label: string; readonly content: ReactNode };

type MatrixGridProps = {
  /** Names the matrix. */
  readonly label: string;
  /** The heading of the row headers. */
  readonly corner: string;
  readonly columns: readonly MatrixColumn[];
  /** The number of all rows, loaded or not. */
  readonly count: number;
  readonly columnWidth?: number;
  /** Returns undefined until the row is loaded. */
  readonly getRow: (row: number) => MatrixRowHeader | undefined;
  readonly getCell: (row: number, column: number) => MatrixCell;
  /** Reports the first and the last row in the window. */
  readonly onRange: (first: number, last: number) => void;
  readonly onOpen: (row: number, column: number) => void;
};

const ROW_HEIGHT = 40;
const DEFAULT_WIDTH = 132;
const ROOT_FONT = 16;
const HEADER_WIDTH = 14 * ROOT_FONT;
const PHONE_HEADER_WIDTH = 8 * ROOT_FONT;
const ROWS_OVERSCAN = 8;
const COLUMNS_OVERSCAN = 3;

const findPosition = (event: KeyboardEvent | MouseEvent): GridPosition | null => {
  const cell = (event.target as Element).closest<HTMLElement>('[data-row]');
  return cell === null ? null : { row: Number(cell.dataset['row']), column: Number(cell.dataset['column']) };
};

type MatrixSizes = {
  readonly count: number;
  readonly columnCount: number;
  readonly columnWidth: number;
  readonly headerWidth: number;
};

const useMatrixPosition = (scroller: RefObject<HTMLDivElement | null>, sizes: MatrixSizes) => {
  const { count, columnCount, columnWidth, headerWidth } = sizes;
  const [chosen, setChosen] = useState<GridPosition>({ row: 0, column: 0 });
  const [hasMoved, setMoved] = useState(false);
  const end = { row: Math.max(count - 1, 0), column: Math.max(columnCount - 1, 0) };
  const row = Math.min(chosen.row, end.row);
  const column = Math.min(chosen.column, end.column);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: ROWS_OVERSCAN,
    scrollPaddingStart: ROW_HEIGHT,
  });
  const columns = useVirtualizer({
    horizontal: true,
    count: columnCount,
    getScrollElement: () => scroller.current,
    estimateSize: () => columnWidth,
    overscan: COLUMNS_OVERSCAN,
    scrollPaddingStart: headerWidth,
  });
  useLayoutEffect(() => columns.measure(), [columns, columnWidth]);
  useLayoutEffect(() => {
    const grid = scroller.current;
    // If the cell with the focus leaves the window, the page has the focus. An open dialog keeps it.
    const canFocus = document.activeElement === document.body || grid?.contains(document.activeElement);
    const selector = `[data-row="${row}"][data-column="${column}"]`;
    if (hasMoved && canFocus) grid?.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
  });
  const move = (event: KeyboardEvent): void => {
    const rowsInWindow = Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2;
    const next = moveInGrid(event, { row, column }, end, rowsInWindow);
    if (next === null) return;
    event.preventDefault();
    setMoved(true);
    setChosen(next);
    rows.scrollToIndex(next.row);
    columns.scrollToIndex(next.column);
  };
  const choose = (position: GridPosition): void => {
    setMoved(false);
    setChosen(position);
  };
  return { rows, columns, active: { row, column }, choose, move };
};

type CellsProps = {
  readonly row: number;
  readonly items: readonly { readonly index: number; readonly start: number; readonly size: number }[];
  readonly offset: number;
  readonly active: GridPosition;
  readonly getCell: (row: number, column: number) => MatrixCell;
};

const MatrixCells = ({ row, items, offset, active, getCell }: CellsProps) =>
  items.map(({ index, start, size }) => {
    const { label, content } = getCell(row, index);
    return (
      <div
        key={index}
        role="gridcell"
        aria-colindex={index + 2}
        aria-label={label}
        data-row={row}
        data-column={index}
        tabIndex={active.row === row && active.column === index ? 0 : -1}
        className={classes['cell']}
        style={{ left: start + offset, width: size }}
        title={label}
      >
        {content}
      </div>
    );
  });

type Item = { readonly index: number; readonly start: number; readonly size: number };

/** Returns the items with the active one among them, so that Tab finds it. */
const withActive = (items: readonly Item[], active: number, size: number): readonly Item[] =>
  items.some(({ index }) => index === active) ? items : [...items, { index: active, start: active * size, size }];

type HeadProps = {
  readonly corner: string;
  readonly columns: readonly MatrixColumn[];
  readonly items: CellsProps['items'];
  readonly offset: number;
  readonly width: number;
};

const MatrixHead = ({ corner, columns, items, offset, width }: HeadProps) => (
  <div role="rowgroup" className={classes['head']} style={{ width }}>
    <div role="row" aria-rowindex={1} className={classes['row']} style={{ width }}>
      <div role="columnheader" aria-colindex={1} className={classes['rowHeader']}>
        <span>{corner}</span>
      </div>
      {items.map(({ index, start, size }) => (
        <div
          key={index}
          role="columnheader"
          aria-colindex={index + 2}
          className={classes['cell']}
          style={{ left: start + offset, width: size }}
          title={columns[index]?.label}
        >
          {columns[index]?.header ?? columns[index]?.label}
        </div>
      ))}
    </div>
  </div>
);

type MatrixRowProps = Omit<CellsProps, 'row'> & {
  readonly index: number;
  readonly top: number;
  readonly width: number;
  readonly row: MatrixRowHeader | undefined;
};

const MatrixRow = ({ index, top, width, row, ...cells }: MatrixRowProps) => (
  <div
    role="row"
    aria-rowindex={index + 2}
    data-group={row?.isGroup === true ? '' : undefined}
    className={classes['row']}
    style={{ transform: `translateY(${top}px)`, width }}
  >
    <div role="rowheader" aria-colindex={1} className={classes['rowHeader']} title={row?.label}>
      <span>{row === undefined ? 'Loading …' : (row.header ?? row.label)}</span>
    </div>
    {row && <MatrixCells row={index} {...cells} />}
  </div>
);

/** Returns the sizes of the grid, the rows and columns in the window, and what keys and clicks do. */
const useMatrix = ({ columns: all, count, columnWidth: least = DEFAULT_WIDTH, ...props }: MatrixGridProps) => {
  const { getRow, onRange, onOpen } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = useMediaQuery('(max-width: 48em)') ?? false;
  const offset = isPhone ? PHONE_HEADER_WIDTH : HEADER_WIDTH;
  const columnWidth = useColumnWidth(scroller, { count: all.length, least, headerWidth: offset });
  const sizes = { count, columnCount: all.length, columnWidth, headerWidth: offset };
  const { rows, columns, active, choose, move } = useMatrixPosition(scroller, sizes);
  const { startIndex = 0, endIndex = 0 } = rows.range ?? {};
  useEffect(() => {
    onRange(startIndex, endIndex);
  }, [startIndex, endIndex, onRange]);
  const open = (event: KeyboardEvent | MouseEvent): void => {
    const position = findPosition(event);
    if (position === null || getRow(position.row) === undefined) return;
    event.preventDefault();
    choose(position);
    onOpen(position.row, position.column);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (findPosition(event) === null) return;
    if (event.key === 'Enter' || event.key === ' ') open(event);
    else move(event);
  };
  return {
    scroller,
    offset,
    active,
    rowItems: withActive(rows.getVirtualItems(), active.row, ROW_HEIGHT),
    columnItems: withActive(columns.getVirtualItems(), active.column, columnWidth),
    height: rows.getTotalSize(),
    width: columns.getTotalSize() + offset,
    onClick: open,
    onKeyDown,
  };
};

export const MatrixGrid = (props: MatrixGridProps) => {
  const { label, corner, columns, count, getRow, getCell } = props;
  const { scroller, offset, active, rowItems, columnItems, height, width, onClick, onKeyDown } = useMatrix(props);
  return (
    <div
      ref={scroller}
      role="grid"
      tabIndex={-1}
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length + 1}
      className={classes['grid']}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      <MatrixHead corner={corner} columns={columns} items={columnItems} offset={offset} width={width} />
      <div role="rowgroup" className={classes['body']} style={{ height, width }}>
        {rowItems.map(({ index, start }) => (
          <MatrixRow
            key={index}
            index={index}
            top={start}
            width={width}
            row={getRow(index)}
            items={columnItems}
            offset={offset}
            active={active}
            getCell={getCell}
          />
        ))}
      </div>
    </div>
  );
};
