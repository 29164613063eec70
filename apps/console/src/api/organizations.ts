import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
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
  pagedQuery([...organizationListKey, search], (page, signal) => {
    const query = { ...page, 'page[size]': PAGE_SIZE, ...(search === '' ? {} : { q: search }) };
    return readDocument(api.GET('/api/v2/organizations', { params: { query }, signal }));
  });

export const organizationQuery = (organization: string) =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'details'],
    queryFn: ({ signal }) =>
      readData(api.GET('/api/v2/organizations/{organization}', { params: { path: { organization } }, signal })),
  });

/** Returns whether the person has a permission in the organization. Undefined until the answer is there. */
export const usePermission = (
  organization: string,
  permission: keyof Organization['attributes']['permissions'],
): boolean | undefined => useQuery(organizationQuery(organization)).data?.attributes.permissions[permission];

export const useCreateOrganization = () =>
  useChange({
    mutationFn: (attributes: RequestResource<'createOrganization'>['attributes']) =>
      readData(api.POST('/api/v2/organizations', { body: { data: { type: KEY, attributes } } })),
    rereads: organizationListKey,
  });
