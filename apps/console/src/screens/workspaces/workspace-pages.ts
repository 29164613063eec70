import { useDebouncedCallback } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import {
  WORKSPACES_IN_PAGE,
  workspacesPageQuery,
  type WorkspaceListPage,
  type WorkspaceListRow,
  type WorkspaceSearch,
} from '../../api/workspaces.js';

/** Pages that the person only scrolls past are not requested. */
const SETTLED_MS = 80;
/** Pages that leave the window stay in memory for this time. */
const KEPT_MS = 60_000;

type PageRange = { readonly first: number; readonly last: number };

const toPage = (index: number): number => Math.floor(index / WORKSPACES_IN_PAGE) + 1;

/** The first page has the number of all rows. */
const listPages = ({ first, last }: PageRange): readonly number[] => {
  const inWindow = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return [...new Set([1, ...inWindow])];
};

export type WorkspaceList = {
  /** Undefined until the first page is loaded. */
  readonly total: number | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
  readonly getRow: (index: number) => WorkspaceListRow | undefined;
  readonly onRange: (first: number, last: number) => void;
};

/** Returns the last known number of rows while another order of the same rows loads. */
const useKnownTotal = (rows: string, total: number | undefined): number | undefined => {
  const [latest, setLatest] = useState({ rows, total });
  if (total !== undefined && (latest.rows !== rows || latest.total !== total)) setLatest({ rows, total });
  return total ?? (latest.rows === rows ? latest.total : undefined);
};

/** Loads the pages of the list that are in the window. */
export const useWorkspacePages = (organization: string, search: WorkspaceSearch): WorkspaceList => {
  const [range, setRange] = useState<PageRange>({ first: 1, last: 1 });
  const numbers = listPages(range);
  const results = useQueries({
    queries: numbers.map((page) => ({ ...workspacesPageQuery(organization, search, page), gcTime: KEPT_MS })),
  });
  const settle = useDebouncedCallback(setRange, SETTLED_MS);
  const onRange = useCallback(
    (first: number, last: number) => settle({ first: toPage(first), last: toPage(last) }),
    [settle],
  );
  const pages = new Map<number, WorkspaceListPage>();
  for (const [position, { data }] of results.entries()) if (data) pages.set(numbers[position] ?? 0, data);
  const { sort: _, ...filters } = search;
  const total = useKnownTotal(JSON.stringify([organization, filters]), pages.get(1)?.total);
  return {
    total,
    error: results.find(({ error }) => error)?.error ?? null,
    retry: () => {
      for (const result of results) if (result.error) void result.refetch();
    },
    getRow: (index) => pages.get(toPage(index))?.rows[index % WORKSPACES_IN_PAGE],
    onRange,
  };
};
