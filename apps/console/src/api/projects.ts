import { queryOptions } from '@tanstack/react-query';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';

const SUGGESTIONS = 50;

/** `create-workspace`: only projects in which the person may create workspaces. */
export type SuggestedProjects = 'all' | 'create-workspace';

/** Projects with this text in their name, for suggestions. */
export const projectSuggestionsQuery = (organization: string, name: string, suggested: SuggestedProjects = 'all') =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'projects', 'suggestions', name, suggested],
    queryFn: async ({ signal }) => {
      const query = {
        'page[size]': SUGGESTIONS,
        ...(name === '' ? {} : { q: name }),
        ...(suggested === 'all' ? {} : { 'filter[permissions][create-workspace]': 'true' }),
      };
      const params = { path: { organization }, query };
      return (await readDocument(api.GET('/api/v2/organizations/{organization}/projects', { params, signal }))).data;
    },
  });

export const projectQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'projects', 'one', id],
    queryFn: async ({ signal }) =>
      (await readDocument(api.GET('/api/v2/projects/{id}', { params: { path: { id } }, signal }))).data,
  });
