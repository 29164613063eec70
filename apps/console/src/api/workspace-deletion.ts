import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { ONCE } from './once.js';
import { organizationKey } from './organizations.js';
import { useChange } from './use-change.js';
import { workspaceKey, type Workspace } from './workspaces.js';

/** The numbers of things that the server deletes with the workspace. Null: the person may not see them. */
export type WorkspaceContent = {
  readonly stateVersions: number | null;
  readonly runs: number | null;
  readonly variables: number | null;
};

const ONE_ROW = { 'page[size]': 1 } as const;

/** The server records that the state versions are read. */
export const workspaceContentQuery = ({ id, attributes, relationships }: Workspace) =>
  queryOptions({
    ...ONCE,
    gcTime: 0,
    queryKey: ['workspace-content', id],
    queryFn: async ({ signal }): Promise<WorkspaceContent> => {
      const { permissions } = attributes;
      const params = { path: { id }, query: ONE_ROW };
      const [states, runs] = await Promise.all([
        permissions['can-read-state-versions']
          ? readDocument(api.GET('/api/v2/workspaces/{id}/state-versions', { params, signal }))
          : null,
        permissions['can-read-run'] ? readDocument(api.GET('/api/v2/workspaces/{id}/runs', { params, signal })) : null,
      ]);
      return {
        stateVersions: states?.meta.pagination['total-count'] ?? null,
        runs: runs?.meta.pagination['total-count'] ?? null,
        variables: permissions['can-read-variable'] ? relationships.vars.data.length : null,
      };
    },
  });

/** Deletes a workspace. `safely`: only if it is unlocked and manages no resources. */
export const useDeleteWorkspace = (organization: string, { id, attributes }: Workspace) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: ({ safely }: { readonly safely: boolean }) => {
      const params = { path: { id } };
      return requireSuccess(
        safely
          ? api.POST('/api/v2/workspaces/{id}/actions/safe-delete', { params })
          : api.DELETE('/api/v2/workspaces/{id}', { params }),
      );
    },
    // The screen of the workspace is still open. It reads nothing that is gone.
    onSuccess: () => {
      const own = workspaceKey(organization, attributes.name);
      void queries.invalidateQueries({
        queryKey: organizationKey(organization),
        predicate: ({ queryKey }) => own.some((part, index) => queryKey[index] !== part),
      });
    },
  });
};
