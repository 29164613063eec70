import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
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
      const pages = await readAllPages((query) => {
        const params = { path: { organization }, query };
        return readDocument(api.GET('/api/v2/organizations/{organization}/saved-views', { params, signal }));
      });
      return pages.flatMap(({ data }) => data);
    },
  });

export const savedViewQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...viewsKey(organization), 'one', id],
    queryFn: ({ signal }) => readData(api.GET('/api/v2/saved-views/{id}', { params: { path: { id } }, signal })),
  });

type ViewChanges = { readonly name?: string; readonly query?: string; readonly shared?: boolean };

/** Saves a new view. Resolves to it. */
export const useSaveView = (organization: string) =>
  useChange({
    mutationFn: (attributes: { readonly name: string; readonly query: string; readonly shared: boolean }) => {
      const params = { path: { organization } };
      const body = { data: { type: 'saved-views' as const, attributes } };
      return readData(api.POST('/api/v2/organizations/{organization}/saved-views', { params, body }));
    },
    rereads: viewsKey(organization),
  });

/** Changes a view of the person. */
export const useUpdateView = (organization: string) =>
  useChange({
    mutationFn: ({ id, changes }: { readonly id: string; readonly changes: ViewChanges }) => {
      const body = { data: { type: 'saved-views' as const, attributes: changes } };
      return requireSuccess(api.PATCH('/api/v2/saved-views/{id}', { params: { path: { id } }, body }));
    },
    rereads: viewsKey(organization),
  });

export const useDeleteView = (organization: string) =>
  useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE('/api/v2/saved-views/{id}', { params: { path: { id } } })),
    rereads: [...viewsKey(organization), 'list'],
  });
