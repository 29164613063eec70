import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError } from '../../api/api-error.js';
import { renamedWorkspaceQuery } from '../../api/renamed-workspace.js';
import { workspaceQuery, type WorkspaceDocument } from '../../api/workspaces.js';
import { showToast } from '../../toasts.js';

/**
 * Replaces the address of an open page if its workspace has another name now, and keeps the tab and the search parameters.
 * Returns whether it still looks for the new name, or the address is about to change.
 */
export const useFollowRename = (organization: string, { data, error }: UseQueryResult<WorkspaceDocument>): boolean => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const isGone = error instanceof ApiError && error.isNotFound && data !== undefined;
  const { id, attributes } = data?.data ?? { id: '', attributes: { name: '' } };
  const present = useQuery({ ...renamedWorkspaceQuery(organization, id, attributes.name), enabled: isGone });
  const renamed = isGone ? present.data : undefined;
  useEffect(() => {
    if (!renamed) return;
    const { name } = renamed.data.attributes;
    // The screen stays as it is, with everything that the person has entered.
    queries.setQueryData(workspaceQuery(organization, name).queryKey, renamed);
    showToast({ kind: 'notice', message: `This workspace has a new name: ${name}.` });
    void navigate({
      to: '.',
      params: (before) => ({ ...before, workspace: name }),
      search: true,
      hash: true,
      replace: true,
      ignoreBlocker: true,
    });
  }, [navigate, organization, queries, renamed]);
  return isGone && (present.isPending || renamed !== undefined);
};
