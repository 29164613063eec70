import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  WORKSPACES_IN_PAGE,
  workspacesPageQuery,
  type WorkspaceListRow,
  type WorkspaceSearch,
} from '../../api/workspaces.js';
import type { GridSelection } from '../../components/grid-selection.js';
import { showToast } from '../../components/toasts.js';
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

/** Selects rows of the list. Rows that are not loaded yet are read first. */
export const useWorkspaceSelection = (
  organization: string,
  search: WorkspaceSearch,
  list: WorkspaceList,
): WorkspaceSelection => {
  const queries = useQueryClient();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const total = list.total ?? 0;
  const most = Math.min(total, MAX_SELECTED);
  const extent = selected.size === 0 ? 'none' : selected.size >= most ? 'all' : 'some';

  const add = (ids: readonly string[]): void => {
    const next = [...new Set([...selected, ...ids])];
    if (next.length > MAX_SELECTED) showToast({ kind: 'error', message: LIMIT_TEXT });
    setSelected(new Set(next.slice(0, MAX_SELECTED)));
  };
  const readIds = async (first: number, last: number): Promise<readonly string[]> => {
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
  const addRange = async (first: number, last: number): Promise<void> => {
    // One more than fits, so that the person reads why the others are not selected.
    const end = Math.min(last, first + MAX_SELECTED);
    try {
      add(await readIds(first, end));
    } catch (error) {
      showToast({ kind: 'error', message: error instanceof Error ? error.message : String(error) });
    }
  };

  return {
    ids: [...selected],
    clear: () => setSelected(new Set()),
    grid: {
      isSelected: ({ id }) => selected.has(id),
      extent,
      describeRow: ({ name }) => `Select ${name}`,
      allLabel:
        total > MAX_SELECTED ? `Select the first ${MAX_SELECTED} workspaces` : 'Select all workspaces of the list',
      onToggleAll: () => (extent === 'all' ? setSelected(new Set()) : void addRange(0, most - 1)),
      onToggle: (index) => {
        const row = list.getRow(index);
        if (!row) return;
        if (selected.has(row.id)) setSelected(new Set([...selected].filter((id) => id !== row.id)));
        else add([row.id]);
      },
      onSelectRange: (from, to) => void addRange(Math.min(from, to), Math.max(from, to)),
    },
  };
};
