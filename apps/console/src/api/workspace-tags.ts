import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { readDocument } from './api-error.js';
import { sendChange, workspaceFactsQuery, type SingleChange, type WorkspaceFacts } from './bulk-changes.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { useChange } from './use-change.js';
import { WORKSPACE_INCLUDES, workspacesKey } from './workspaces.js';

/** The workspace with this id and its tags, also after it has got another name. */
export const taggedWorkspaceQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...workspacesKey(organization), 'tagged', id],
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { include: [...WORKSPACE_INCLUDES] } };
      return readDocument(api.GET('/api/v2/workspaces/{id}', { params, signal }));
    },
  });

export type TagChange = Extract<SingleChange, { readonly kind: 'bind' | 'unbind' }>;

/** Sets or removes a tag of the workspace with this id. */
export const useChangeTag = (organization: string, id: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (change: TagChange) => sendChange(id, change),
    // Lists and the matrix of tags show it too. The dialog does not wait for them.
    onSettled: () => void queries.invalidateQueries({ queryKey: organizationKey(organization) }),
  });
};

/** Returns a function that reads the workspace with this id again. It returns undefined if the workspace cannot be read any more. */
export const useReadFacts = (organization: string, id: string): (() => Promise<WorkspaceFacts | undefined>) => {
  const queries = useQueryClient();
  return async () => {
    const [facts] = await queries.fetchQuery({ ...workspaceFactsQuery(organization, [id]), staleTime: 0 });
    return facts;
  };
};
