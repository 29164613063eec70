import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  WORKSPACES_IN_PAGE,
  workspacesPageQuery,
  type WorkspaceListRow,
  type WorkspaceSearch,
} from '../../api/workspaces.js';
import type { GridSelection } from '../../components/grid-selection.js';
import { showToast } from '../../toasts.js';
import type { WorkspaceList } from './workspace-pages.js';

/** One change may have this many workspaces, so that a person can read its preview. */
export const MAX_SELECTED = 500;

export type WorkspaceSelection = {
  /** In the order in which they were selected. */
  readonly ids: readonly string[];
  readonly grid: GridSelection<WorkspaceListRow>;
  readonly clear: () => void;
};

const LIMIT_TEXT = `You can select at most ${MAX_SELECTED} workspaces. Narrow the filters, or change them in several steps.`;

/** Returns a function that reads the ids of the rows from one index to another. */
const useIdReader = (organization: string, search: WorkspaceSearch) => {
  const queries = useQueryClient();
  return async (first: number, last: number): Promise<readonly string[]> => {
    const from = Math.floor(first / WORKSPACES_IN_PAGE);
    const to = Math.floor(last / WORKSPACES_IN_PAGE);
    const pages = await Promise.all(
      Array.from({ length: to - from + 1 }, (_, index) =>
        queries.fetchQuery(workspacesPageQuery(organization, search, from + index + 1)),
      ),
    );
    const offset = from * WORKSPACES_IN_PAGE;
    return pages.flatMap(({ rows }) => rows.map(({ id }) => id)).slice(first - offset, last - offset + 1);
  };
};

/** Ids up to the limit. It says so if there are more. */
const useLimitedIds = () => {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  return {
    selected,
    add: (ids: readonly string[]): void => {
      if (new Set([...selected, ...ids]).size > MAX_SELECTED) showToast({ kind: 'error', message: LIMIT_TEXT });
      setSelected((before) => new Set([...new Set([...before, ...ids])].slice(0, MAX_SELECTED)));
    },
    remove: (removedId: string): void => setSelected((before) => new Set([...before].filter((id) => id !== removedId))),
    clear: (): void => setSelected(new Set()),
  };
};

/** Selects rows of the list. Rows that are not loaded yet are read first. */
export const useWorkspaceSelection = (
  organization: string,
  search: WorkspaceSearch,
  list: WorkspaceList,
): WorkspaceSelection => {
  const readIds = useIdReader(organization, search);
  const { selected, add, remove, clear } = useLimitedIds();
  const total = list.total ?? 0;
  const most = Math.min(total, MAX_SELECTED);
  const extent = selected.size === 0 ? 'none' : selected.size >= most ? 'all' : 'some';
  const addRange = (first: number, last: number): void => {
    // One more than fits, so that the person reads why the others are not selected.
    readIds(first, Math.min(last, first + MAX_SELECTED)).then(add, ({ message }: Error) =>
      showToast({ kind: 'error', message }),
    );
  };
  return {
    ids: [...selected],
    clear,
    grid: {
      isSelected: ({ id }) => selected.has(id),
      extent,
      describeRow: ({ name }) => `Select ${name}`,
      allLabel:
        total > MAX_SELECTED ? `Select the first ${MAX_SELECTED} workspaces` : 'Select all workspaces of the list',
      onToggleAll: () => (extent === 'all' ? clear() : addRange(0, most - 1)),
      onToggle: (index) => {
        const row = list.getRow(index);
        if (!row) return;
        if (selected.has(row.id)) remove(row.id);
        else add([row.id]);
      },
      onSelectRange: (from, to) => addRange(Math.min(from, to), Math.max(from, to)),
    },
  };
};
