import { useDebouncedCallback } from '@mantine/hooks';
import { useQueries, type QueryKey, type UseQueryOptions } from '@tanstack/react-query';
import { useCallback, useState } from 'react';

/** Pages that the person only scrolls past are not requested. */
const SETTLED_MS = 80;
/** Pages that leave the window stay in memory for this time. */
const KEPT_MS = 60_000;

type RowPage<R> = { readonly rows: readonly R[]; readonly total: number };

export type PagedRows<R> = {
  /** Undefined until the first page is loaded. */
  readonly total: number | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
  /** Returns undefined until the row is loaded. */
  readonly getRow: (index: number) => R | undefined;
  /** The rows of all pages that are loaded. */
  readonly loaded: readonly R[];
  /** Reports the first and the last row in the window. */
  readonly onRange: (first: number, last: number) => void;
};

type PageQuery<R, K extends QueryKey> = UseQueryOptions<RowPage<R>, Error, RowPage<R>, K>;

/** Loads the pages of a list that are in the window, and the first one, which has the number of all rows. */
export const usePagedRows = <R, K extends QueryKey>(
  pageSize: number,
  getQuery: (page: number) => PageQuery<R, K>,
): PagedRows<R> => {
  const [range, setRange] = useState({ first: 1, last: 1 });
  const inWindow = Array.from({ length: range.last - range.first + 1 }, (_, index) => range.first + index);
  const numbers = [...new Set([1, ...inWindow])];
  const results = useQueries({ queries: numbers.map((page) => ({ ...getQuery(page), gcTime: KEPT_MS })) });
  const settle = useDebouncedCallback(setRange, SETTLED_MS);
  const toPage = (index: number): number => Math.floor(index / pageSize) + 1;
  const onRange = useCallback(
    (first: number, last: number) =>
      settle({ first: Math.floor(first / pageSize) + 1, last: Math.floor(last / pageSize) + 1 }),
    [settle, pageSize],
  );
  const pages = new Map<number, RowPage<R>>();
  for (const [position, { data }] of results.entries()) if (data) pages.set(numbers[position] ?? 0, data);
  return {
    total: pages.get(1)?.total,
    error: results.find(({ error }) => error)?.error ?? null,
    retry: () => {
      for (const result of results) if (result.error) void result.refetch();
    },
    getRow: (index) => pages.get(toPage(index))?.rows[index % pageSize],
    loaded: [...pages.values()].flatMap(({ rows }) => rows),
    onRange,
  };
};
