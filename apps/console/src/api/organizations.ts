import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
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

export type OrganizationInput = NonNullable<RequestResource<'updateOrganization'>['attributes']>;

const sendOrganization = (organization: string, attributes: OrganizationInput) => {
  const body = { data: { type: 'organizations' as const, attributes } };
  const params = { path: { organization } };
  return readData(api.PATCH('/api/v2/organizations/{organization}', { params, body }));
};

/** Changes settings of an organization, but not its name. */
export const useUpdateOrganization = (organization: string) =>
  useChange({
    mutationFn: (attributes: OrganizationInput) => sendOrganization(organization, attributes),
    rereads: organizationKey(organization),
  });

/** Changes the name of an organization. Nothing has the former name then, so nothing about it is read again. */
export const useRenameOrganization = (organization: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (name: string) => sendOrganization(organization, { name }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: organizationListKey }),
  });
};

export const useDeleteOrganization = (organization: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: () =>
      requireSuccess(api.DELETE('/api/v2/organizations/{organization}', { params: { path: { organization } } })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: organizationListKey }),
  });
};

/** The numbers of workspaces, projects and teams of an organization that the person may read. */
export const organizationContentQuery = (organization: string) =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'content'],
    queryFn: async ({ signal }) => {
      const params = { path: { organization }, query: { 'page[size]': 1 } };
      const [workspaces, projects, teams] = await Promise.all([
        readDocument(api.GET('/api/v2/organizations/{organization}/workspaces', { params, signal })),
        readDocument(api.GET('/api/v2/organizations/{organization}/projects', { params, signal })),
        readDocument(api.GET('/api/v2/organizations/{organization}/teams', { params, signal })),
      ]);
      return {
        workspaces: workspaces.meta.pagination['total-count'],
        projects: projects.meta.pagination['total-count'],
        teams: teams.meta.pagination['total-count'],
      };
    },
  });
