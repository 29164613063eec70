import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { readAllPages } from './pages.js';
import { useChange } from './use-change.js';

export type SavedView = ApiResource<'SavedView'>;

const viewsKey = (organization: string) => [...organizationKey(organization), 'saved-views'] as const;

/** The person's own views and the shared ones, by name. */
export const savedViewsQuery = (organization: string) =>
  queryOptions({
    queryKey: [...viewsKey(organization), 'list'],
    queryFn: async ({ signal }) => {
      const pages = await readAllPages((number) => {
        const params = { path: { organization }, query: { 'page[number]': number, 'page[size]': 100 } };
        return readDocument(api.GET('/api/v2/organizations/{organization}/saved-views', { params, signal }));
      });
      return pages.flatMap(({ data }) => data);
    },
  });

export const savedViewQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...viewsKey(organization), 'one', id],
    queryFn: async ({ signal }) =>
      (await readDocument(api.GET('/api/v2/saved-views/{id}', { params: { path: { id } }, signal }))).data,
  });

type ViewChanges = { readonly name?: string; readonly query?: string; readonly shared?: boolean };

/** Saves a new view. Resolves to it. */
export const useSaveView = (organization: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: async (attributes: { readonly name: string; readonly query: string; readonly shared: boolean }) => {
      const params = { path: { organization } };
      const body = { data: { type: 'saved-views' as const, attributes } };
      return (await readDocument(api.POST('/api/v2/organizations/{organization}/saved-views', { params, body }))).data;
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: viewsKey(organization) }),
  });
};

/** Changes a view of the person. */
export const useUpdateView = (organization: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: ({ id, changes }: { readonly id: string; readonly changes: ViewChanges }) => {
      const body = { data: { type: 'saved-views' as const, attributes: changes } };
      return requireSuccess(api.PATCH('/api/v2/saved-views/{id}', { params: { path: { id } }, body }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: viewsKey(organization) }),
  });
};

export const useDeleteView = (organization: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE('/api/v2/saved-views/{id}', { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: [...viewsKey(organization), 'list'] }),
  });
};
