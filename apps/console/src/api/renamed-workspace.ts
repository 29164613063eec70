import { queryOptions } from '@tanstack/react-query';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { WORKSPACE_INCLUDES, workspacesKey } from './workspaces.js';

/**
 * The document of a workspace that has lost this name, with what the query by name includes. Null if it has no other name.
 */
export const renamedWorkspaceQuery = (organization: string, id: string, formerName: string) =>
  queryOptions({
    queryKey: [...workspacesKey(organization), 'renamed', id, formerName],
    gcTime: 0,
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { include: [...WORKSPACE_INCLUDES] } };
      const document = await readDocument(api.GET('/api/v2/workspaces/{id}', { params, signal }));
      return document.data.attributes.name === formerName ? null : document;
    },
  });
