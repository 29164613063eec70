import { Button, type ButtonProps } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';

type LoadMoreProps = Pick<ButtonProps, 'size' | 'variant'> & {
  readonly query: UseInfiniteQueryResult<{ readonly pages: readonly unknown[] }>;
  readonly children?: ReactNode;
};

/**
 * Loads the next page of a list. The live stream can read the list again at the same time: a query has one request, and the
 * later one ends the earlier. So the page is requested after a refresh, and again if a refresh ended its request.
 */
export const LoadMore = ({ query, children = 'Load more', variant = 'default', ...button }: LoadMoreProps) => {
  const { hasNextPage, isFetching, fetchNextPage } = query;
  const loaded = query.data?.pages.length ?? 0;
  const [requested, setRequested] = useState(0);
  const isRequested = hasNextPage && requested > loaded;
  useEffect(() => {
    if (!isRequested || isFetching) return;
    void fetchNextPage().then(({ isFetchNextPageError }) => {
      if (isFetchNextPageError) setRequested(0);
    });
  }, [isRequested, isFetching, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <Button
      {...button}
      w="fit-content"
      variant={variant}
      loading={isRequested}
      onClick={() => setRequested(loaded + 1)}
    >
      {children}
    </Button>
  );
};
