import { queryOptions } from '@tanstack/react-query';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { workspacesKey } from './workspaces.js';

const DETAIL_INCLUDES = ['project', 'current_run', 'locked_by', 'effective_tag_bindings'] as const;

/**
 * The document of a workspace that has lost this name, with what the query by name includes. Null if it has no other name.
 */
export const renamedWorkspaceQuery = (organization: string, id: string, formerName: string) =>
  queryOptions({
    queryKey: [...workspacesKey(organization), 'renamed', id, formerName],
    gcTime: 0,
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { include: [...DETAIL_INCLUDES] } };
      const document = await readDocument(api.GET('/api/v2/workspaces/{id}', { params, signal }));
      return document.data.attributes.name === formerName ? null : document;
    },
  });
