import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { RequestResource } from '#packages/client';
import { readData } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { useChange } from './use-change.js';

const SUGGESTIONS = 50;

/** `create-workspace`: only projects in which the person may create workspaces. */
export type SuggestedProjects = 'all' | 'create-workspace';

/** Projects with this text in their name, for suggestions. */
export const projectSuggestionsQuery = (organization: string, name: string, suggested: SuggestedProjects = 'all') =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'projects', 'suggestions', name, suggested],
    queryFn: ({ signal }) => {
      const query = {
        'page[size]': SUGGESTIONS,
        ...(name === '' ? {} : { q: name }),
        ...(suggested === 'all' ? {} : { 'filter[permissions][create-workspace]': 'true' }),
      };
      const params = { path: { organization }, query };
      return readData(api.GET('/api/v2/organizations/{organization}/projects', { params, signal }));
    },
  });

export const projectQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'projects', 'one', id],
    queryFn: ({ signal }) => readData(api.GET('/api/v2/projects/{id}', { params: { path: { id } }, signal })),
  });

export const useCreateProject = (organization: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (attributes: RequestResource<'createProject'>['attributes']) => {
      const params = { path: { organization } };
      const body = { data: { type: 'projects' as const, attributes } };
      return readData(api.POST('/api/v2/organizations/{organization}/projects', { params, body }));
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: organizationKey(organization) }),
  });
};
