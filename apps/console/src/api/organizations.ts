import { infiniteQueryOptions, queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { useChange } from './use-change.js';

export type Organization = ApiResource<'Organization'>;

const PAGE_SIZE = 50;

const KEY = 'organizations';

/** Everything about an organization has a key that begins with this one. */
export const organizationKey = (organization: string) => [KEY, organization] as const;

/** All lists of organizations have keys that begin with this one. */
export const organizationListKey = ['organization-list'] as const;

/** The organizations that the person may see, page by page. */
export const organizationsQuery = (search = '') =>
  infiniteQueryOptions({
    queryKey: [...organizationListKey, search],
    queryFn: ({ pageParam, signal }) =>
      readDocument(
        api.GET('/api/v2/organizations', {
          params: {
            query: { 'page[number]': pageParam, 'page[size]': PAGE_SIZE, ...(search === '' ? {} : { q: search }) },
          },
          signal,
        }),
      ),
    initialPageParam: 1,
    getNextPageParam: (page) => page.meta.pagination['next-page'],
  });

export const organizationQuery = (organization: string) =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'details'],
    queryFn: async ({ signal }) =>
      (
        await readDocument(
          api.GET('/api/v2/organizations/{organization}', { params: { path: { organization } }, signal }),
        )
      ).data,
  });

export const useCreateOrganization = () => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: async (attributes: RequestResource<'createOrganization'>['attributes']) =>
      (await readDocument(api.POST('/api/v2/organizations', { body: { data: { type: KEY, attributes } } }))).data,
    onSuccess: () => queries.invalidateQueries({ queryKey: organizationListKey }),
  });
};
