import { infiniteQueryOptions, type QueryKey } from '@tanstack/react-query';
import type { ONCE } from './once.js';

type PageOfList = { readonly meta: { readonly pagination: { readonly 'next-page': number | null } } };
export type PageParameters = { readonly 'page[number]': number; readonly 'page[size]': number };

/** The largest page of the API. */
const PAGE_SIZE = 100;

type PagedOptions = Partial<typeof ONCE> & { readonly refetchInterval?: number };

/** A list that the person reads page by page. `readPage` gets the parameters of the page, and can make it smaller. */
export const pagedQuery = <P extends PageOfList>(
  queryKey: QueryKey,
  readPage: (page: PageParameters, signal: AbortSignal) => Promise<P>,
  options: PagedOptions = {},
) =>
  infiniteQueryOptions({
    ...options,
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage({ 'page[number]': pageParam, 'page[size]': PAGE_SIZE }, signal),
    initialPageParam: 1,
    getNextPageParam: (page) => page.meta.pagination['next-page'],
  });

/** Returns all pages of a list that is short enough to show as a whole. `readPage` gets the parameters of the page. */
export const readAllPages = async <P extends PageOfList>(
  readPage: (page: PageParameters) => Promise<P>,
): Promise<readonly P[]> => {
  const pages: P[] = [];
  for (let number: number | null = 1; number !== null;) {
    const page: P = await readPage({ 'page[number]': number, 'page[size]': PAGE_SIZE });
    pages.push(page);
    number = page.meta.pagination['next-page'];
  }
  return pages;
};

/** Returns the rows of all pages that are loaded. */
export const listRows = <R>(
  data: { readonly pages: readonly { readonly data: readonly R[] }[] } | undefined,
): readonly R[] => data?.pages.flatMap((page) => page.data) ?? [];
