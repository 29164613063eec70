import { useMediaQuery } from '@mantine/hooks';
import { useTable, type Row, type RowData } from '@tanstack/react-table';
import { defaultRangeExtractor, useVirtualizer, type Range, type VirtualItem } from '@tanstack/react-virtual';
import {
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
} from 'react';
import { moveInGrid } from './grid-keys.js';
import { features, GridRow, type GridColumnMeta, type GridFeatures } from './grid-row.js';
import { GridHead, type GridColumn } from './grid-head.js';
import { useSelectionInput, type GridSelection } from './grid-selection.js';
import classes from './virtual-grid.module.css';

/* A grid for lists of any length. It renders the rows in the window only, and rows can be absent until they are loaded. */

export type { GridColumn } from './grid-head.js';

type VirtualGridProps<R extends RowData> = {
  /** Names the list. */
  readonly label: string;
  readonly columns: readonly GridColumn<R>[];
  /** The number of all rows, loaded or not. */
  readonly count: number;
  /** Returns undefined until the row is loaded. */
  readonly getRow: (index: number) => R | undefined;
  readonly getRowId: (row: R) => string;
  /** Reports the first and the last row in the window. */
  readonly onRange: (first: number, last: number) => void;
  readonly onOpen: (row: R) => void;
  /** A column's `sort`, with a leading `-` for the opposite order. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  /** Each other number scrolls to the first row, and moves the focus there. */
  readonly restarts?: number;
  /** Without it, rows cannot be selected. */
  readonly selection?: GridSelection<R>;
};

const ROW_HEIGHT = 40;
/** Two lines for the title of a row, and one line for the other cells. */
const PHONE_ROW_HEIGHT = 80;
/** Rows outside the window cost time in each frame of a fast scroll. */
const OVERSCAN = 5;
/** The height of the largest element differs between browsers. The smallest limit is 17,895,697 pixels, in Firefox. */
const MAX_ROWS = Math.floor(17_000_000 / PHONE_ROW_HEIGHT);

const useRowHeight = (): number =>
  useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false }) ? PHONE_ROW_HEIGHT : ROW_HEIGHT;

/** Another `cause`, such as another order, begins at the first row. */
const useStart = (cause: unknown, scroller: RefObject<HTMLDivElement | null>): void => {
  useEffect(() => {
    // Chromium returns a promise, which React would take for the clean-up of the effect.
    scroller.current?.scrollTo({ top: 0 });
  }, [cause, scroller]);
};

/** Keeps the active row on the screen when the keyboard moves it, and in the document when the mouse scrolls it away. */
const useActiveRow = (count: number, rowHeight: number, restarts: number) => {
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const [hasMoved, setMoved] = useState(false);
  const [restartsBefore, setRestarts] = useState(restarts);
  if (restarts !== restartsBefore) {
    setRestarts(restarts);
    setActive(0);
    setMoved(true);
  }
  const last = Math.max(count - 1, 0);
  const index = Math.min(active, last);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    rangeExtractor: (range: Range) => [...new Set([...defaultRangeExtractor(range), index])].toSorted((a, b) => a - b),
  });
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  useLayoutEffect(() => {
    if (hasMoved)
      scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true });
  }, [hasMoved, index, restarts]);
  useStart(restarts, scroller);
  /** Returns the row that is then active. */
  const move = (event: KeyboardEvent): number => {
    const rowsInWindow = Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1;
    const target = moveInGrid(event, { row: index, column: 0 }, { row: last, column: 0 }, rowsInWindow)?.row;
    if (target === undefined) return index;
    event.preventDefault();
    setMoved(true);
    setActive(target);
    virtualizer.scrollToIndex(target);
    return target;
  };
  return { scroller, virtualizer, active: index, setActive, move };
};

const useReportedRange = (first: number, last: number, onRange: (first: number, last: number) => void): void => {
  useEffect(() => {
    onRange(first, last);
  }, [first, last, onRange]);
};

/** The compiler of React may not keep what the libraries return, because both change their results in place. */
const useGridRows = <R extends RowData>(
  columns: readonly GridColumn<R>[],
  items: readonly { readonly index: number }[],
  { getRow, getRowId }: Pick<VirtualGridProps<R>, 'getRow' | 'getRowId'>,
): ReadonlyMap<string, Row<GridFeatures, R>> => {
  const data = items.flatMap(({ index }) => getRow(index) ?? []);
  const table = useTable<GridFeatures, R>({ features, columns: columns as GridColumn<R>[], data, getRowId });
  return new Map(table.getRowModel().rows.map((row) => [row.id, row]));
};

/** Opens the row of an event, unless the person wants to open a link in another tab or to select text. */
const findIndex = (event: MouseEvent | KeyboardEvent): number | null => {
  const row = (event.target as Element).closest<HTMLElement>('[data-index]');
  return row === null ? null : Number(row.dataset['index']);
};

const isPlainClick = (event: MouseEvent): boolean =>
  !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey && (getSelection()?.toString() ?? '') === '';

const SELECT_WIDTH = '1.5rem';

type GridTemplate = {
  readonly columns: readonly { readonly meta: GridColumnMeta }[];
  readonly isSelectable: boolean;
  readonly rowHeight: number;
};

const buildTemplate = ({ columns, isSelectable, rowHeight }: GridTemplate): CSSProperties => {
  const first = isSelectable ? [SELECT_WIDTH] : [];
  const others = columns.filter(({ meta }) => meta.isWide !== true && meta.isTitle !== true);
  return {
    '--grid-columns': [...first, ...columns.map(({ meta }) => meta.width)].join(' '),
    '--grid-columns-phone': [...first, ...(others.length > 0 ? others.map(({ meta }) => meta.width) : ['1fr'])].join(
      ' ',
    ),
    '--grid-title-phone': `${first.length + 1} / -1`,
    '--grid-row-height': `${rowHeight}px`,
  } as CSSProperties;
};

const RowLimit = ({ id, shownCount }: { readonly id: string; readonly shownCount: number }) => (
  <p id={id} className={classes['limit']}>
    The list shows the first {shownCount.toLocaleString()} rows. Narrow the filter to see the others.
  </p>
);

type GridBodyProps<R extends RowData> = Pick<VirtualGridProps<R>, 'columns' | 'getRow' | 'getRowId' | 'selection'> & {
  readonly items: readonly VirtualItem[];
  readonly rows: ReadonlyMap<string, Row<GridFeatures, R>>;
  readonly height: number;
  readonly active: number;
};

/** The rows in the window. */
const GridBody = <R extends RowData>(props: GridBodyProps<R>) => {
  const { columns, getRow, getRowId, selection, items, rows, height, active } = props;
  return (
    <div role="rowgroup" className={classes['body']} style={{ height }}>
      {items.map(({ index, start }) => {
        const original = getRow(index);
        const row = original && rows.get(getRowId(original));
        return (
          <GridRow
            key={index}
            row={row as unknown as Row<GridFeatures, RowData> | undefined}
            index={index}
            top={start}
            columns={columns}
            isActive={index === active}
            isSelected={selection && (original ? selection.isSelected(original) : false)}
            selectLabel={selection && original ? selection.describeRow(original) : ''}
          />
        );
      })}
    </div>
  );
};

export const VirtualGrid = <R extends RowData>(props: VirtualGridProps<R>) => {
  const { label, columns, count, getRow, onRange, onOpen, sort, onSort, selection, restarts = 0 } = props;
  const id = useId();
  const shownCount = Math.min(count, MAX_ROWS);
  const rowHeight = useRowHeight();
  const { scroller, virtualizer, active, setActive, move } = useActiveRow(shownCount, rowHeight, restarts);
  const input = useSelectionInput(selection);
  const items = virtualizer.getVirtualItems();
  const rows = useGridRows(columns, items, props);
  const { startIndex = 0, endIndex = 0 } = virtualizer.range ?? {};
  useReportedRange(startIndex, endIndex, onRange);
  useStart(sort, scroller);
  const open = (event: MouseEvent | KeyboardEvent): void => {
    const index = findIndex(event);
    const row = index === null ? undefined : getRow(index);
    if (index === null || row === undefined) return;
    event.preventDefault();
    setActive(index);
    onOpen(row);
  };
  return (
    <>
      <div
        ref={scroller}
        role="grid"
        tabIndex={-1}
        aria-label={label}
        aria-rowcount={count + 1}
        aria-multiselectable={selection ? true : undefined}
        aria-describedby={count > shownCount ? id : undefined}
        className={classes['grid']}
        style={buildTemplate({ columns, isSelectable: selection !== undefined, rowHeight })}
        onMouseDown={input.focusRow}
        onKeyDown={(event) => {
          const index = findIndex(event);
          if (index === null || input.press(event, index)) return;
          if (event.key === 'Enter') open(event);
          else input.extend(event, active, move(event));
        }}
        onClick={(event) => {
          const index = findIndex(event);
          if (input.click(event, index)) setActive(index ?? active);
          else if (isPlainClick(event)) open(event);
        }}
      >
        <GridHead
          columns={columns as unknown as readonly GridColumn<never>[]}
          selection={selection}
          sort={sort}
          onSort={onSort}
        />
        <GridBody {...props} items={items} rows={rows} height={virtualizer.getTotalSize()} active={active} />
      </div>
      {count > shownCount && <RowLimit id={id} shownCount={shownCount} />}
    </>
  );
};
