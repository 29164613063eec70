import { useState } from 'react';
import {
  WORKSPACES_IN_PAGE,
  workspacesPageQuery,
  type WorkspaceListRow,
  type WorkspaceSearch,
} from '../../api/workspaces.js';
import { usePagedRows, type PagedRows } from '../../components/paged-rows.js';

export type WorkspaceList = PagedRows<WorkspaceListRow>;

/** Returns the last known number of rows while another order of the same rows loads. */
const useKnownTotal = (rows: string, total: number | undefined): number | undefined => {
  const [latest, setLatest] = useState({ rows, total });
  if (total !== undefined && (latest.rows !== rows || latest.total !== total)) setLatest({ rows, total });
  return total ?? (latest.rows === rows ? latest.total : undefined);
};

/** Loads the pages of the list that are in the window. */
export const useWorkspacePages = (organization: string, search: WorkspaceSearch): WorkspaceList => {
  const list = usePagedRows(WORKSPACES_IN_PAGE, (page) => workspacesPageQuery(organization, search, page));
  const { sort: _, ...filters } = search;
  const total = useKnownTotal(JSON.stringify([organization, filters]), list.total);
  return { ...list, total };
};
