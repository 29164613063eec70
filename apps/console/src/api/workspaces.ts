import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiResource } from '#client';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';

export type Workspace = ApiResource<'Workspace'>;
export type WorkspaceDocument = ApiResource<'WorkspaceDocumentWithIncluded'>;
type WorkspacePage = ApiResource<'WorkspacePageWithIncluded'>;
type IncludedResource = NonNullable<WorkspacePage['included']>[number];

/** The number of workspaces that the API returns at most in one page. */
export const WORKSPACES_IN_PAGE = 100;

/** How to filter and sort the list. The names are those in the address of the screen. */
export type WorkspaceSearch = {
  readonly name?: string;
  /** `key` or `key:value`. */
  readonly tags?: readonly string[];
  /** The id of a project. */
  readonly project?: string;
  readonly status?: readonly string[];
  readonly sort?: WorkspaceSort;
};

export const WORKSPACE_SORTS = [
  'name',
  '-name',
  'latest-change-at',
  '-latest-change-at',
  'current-run.created-at',
  '-current-run.created-at',
] as const;
export type WorkspaceSort = (typeof WORKSPACE_SORTS)[number];

const workspacesKey = (organization: string) => [...organizationKey(organization), 'workspaces'] as const;

/** Everything about a workspace has a key that begins with this one. */
export const workspaceKey = (organization: string, name: string) =>
  [...workspacesKey(organization), 'one', name] as const;

/** Tags are numbered parameters: `filter[tagged][1][key]=env`. */
const toTagParameters = (tags: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    tags.flatMap((tag, index) => {
      const [key = '', ...rest] = tag.split(':');
      const name = `filter[tagged][${index}]`;
      return [
        [`${name}[key]`, key] as const,
        ...(rest.length > 0 ? [[`${name}[value]`, rest.join(':')] as const] : []),
      ];
    }),
  );

/** One page of the list, with the projects, the runs and the holders of locks that its rows show. */
export const workspacesPageQuery = (organization: string, filter: WorkspaceSearch, page: number) =>
  queryOptions({
    queryKey: [...workspacesKey(organization), 'list', filter, page],
    queryFn: ({ signal }) =>
      readDocument(
        api.GET('/api/v2/organizations/{organization}/workspaces', {
          params: {
            path: { organization },
            query: {
              'page[number]': page,
              'page[size]': WORKSPACES_IN_PAGE,
              include: ['project', 'current_run', 'locked_by'],
              ...(filter.name ? { 'search[name]': filter.name } : {}),
              ...(filter.project ? { 'filter[project][id]': filter.project } : {}),
              ...(filter.status?.length ? { 'filter[current-run][status]': [...filter.status] } : {}),
              ...(filter.sort ? { sort: filter.sort } : {}),
              ...toTagParameters(filter.tags ?? []),
            },
          },
          signal,
        }),
      ),
  });

/** The number of workspaces that the person may read. */
export const workspaceCountQuery = (organization: string) =>
  queryOptions({
    queryKey: [...workspacesKey(organization), 'count'],
    queryFn: async ({ signal }) => {
      const { meta } = await readDocument(
        api.GET('/api/v2/organizations/{organization}/workspaces', {
          params: { path: { organization }, query: { 'page[size]': 1 } },
          signal,
        }),
      );
      return meta.pagination['total-count'];
    },
  });

/** Workspaces with this text in their name, for suggestions. */
export const workspaceSuggestionsQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: [...workspacesKey(organization), 'suggestions', name],
    queryFn: async ({ signal }) =>
      (
        await readDocument(
          api.GET('/api/v2/organizations/{organization}/workspaces', {
            params: { path: { organization }, query: { 'page[size]': 8, 'search[name]': name } },
            signal,
          }),
        )
      ).data,
  });

export const workspaceQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: [...workspaceKey(organization, name), 'details'],
    queryFn: ({ signal }) =>
      readDocument(
        api.GET('/api/v2/organizations/{organization}/workspaces/{name}', {
          params: {
            path: { organization, name },
            query: { include: ['project', 'current_run', 'locked_by', 'effective_tag_bindings'] },
          },
          signal,
        }),
      ),
  });

/** Returns the included resource that a relationship identifies, or null. */
export const findIncluded = <T extends IncludedResource['type']>(
  { included }: Pick<WorkspacePage, 'included'>,
  identifier: { readonly type: T; readonly id: string } | null | undefined,
): Extract<IncludedResource, { readonly type: T }> | null =>
  ((identifier && included?.find(({ type, id }) => type === identifier.type && id === identifier.id)) ??
    null) as Extract<IncludedResource, { readonly type: T }> | null;

type LockChange = { readonly action: 'lock'; readonly reason: string } | { readonly action: 'unlock' | 'force-unlock' };

/** Locks or unlocks a workspace. */
export const useChangeLock = (organization: string, { id, attributes }: Workspace) => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: LockChange) => {
      const params = { path: { id } };
      if (change.action === 'lock') {
        const body = change.reason === '' ? {} : { reason: change.reason };
        return readDocument(api.POST('/api/v2/workspaces/{id}/actions/lock', { params, body }));
      }
      if (change.action === 'unlock')
        return readDocument(api.POST('/api/v2/workspaces/{id}/actions/unlock', { params }));
      return readDocument(api.POST('/api/v2/workspaces/{id}/actions/force-unlock', { params }));
    },
    // The lists show the lock too.
    onSettled: () => queries.invalidateQueries({ queryKey: workspacesKey(organization) }),
    meta: { workspace: attributes.name },
  });
};
