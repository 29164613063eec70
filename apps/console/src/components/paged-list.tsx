import { Stack } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { listRows } from '../api/pages.js';
import { LoadMore } from './load-more.js';
import { LoadingLines, QueryState } from './states.js';

type PagedListProps<R> = {
  readonly query: UseInfiniteQueryResult<{ readonly pages: readonly { readonly data: readonly R[] }[] }>;
  /** The kind of resource without which there is no list, such as `organization`. */
  readonly what: string;
  readonly loading?: ReactNode;
  /** Replaces a list without rows. */
  readonly empty: ReactNode;
  /** The label of the button that loads the next page. */
  readonly more?: string;
  readonly children: (rows: readonly R[]) => ReactNode;
};

/** The loaded rows of a list, with a button that loads more of them. Otherwise that it loads, is empty or cannot be read. */
export const PagedList = <R,>({ query, what, loading, empty, more = 'Load more', children }: PagedListProps<R>) => (
  <QueryState query={query} what={what} loading={loading ?? <LoadingLines count={5} height={40} />}>
    {(data) => {
      const rows = listRows(data);
      if (rows.length === 0) return empty;
      return (
        <Stack>
          {children(rows)}
          <LoadMore query={query}>{more}</LoadMore>
        </Stack>
      );
    }}
  </QueryState>
);
