import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type Project = ApiResource<'Project'>;

const SUGGESTIONS = 50;

const projectsKey = (organization: string) => [...organizationKey(organization), 'projects'] as const;

/** The projects that the person may read, page by page. `name`: a text in their names. */
export const projectsQuery = (organization: string, name: string) =>
  pagedQuery([...projectsKey(organization), 'list', name], (page, signal) => {
    const query = { ...page, sort: 'name' as const, ...(name === '' ? {} : { q: name }) };
    const params = { path: { organization }, query };
    return readDocument(api.GET('/api/v2/organizations/{organization}/projects', { params, signal }));
  });

/** `create-workspace`: only projects in which the person may create workspaces. */
export type SuggestedProjects = 'all' | 'create-workspace';

/** Projects with this text in their name, for suggestions. */
export const projectSuggestionsQuery = (organization: string, name: string, suggested: SuggestedProjects = 'all') =>
  queryOptions({
    queryKey: [...projectsKey(organization), 'suggestions', name, suggested],
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
    queryKey: [...projectsKey(organization), 'one', id],
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

/** Changes settings of a project. Names, tags and defaults are on many screens, so everything is read again. */
export const useUpdateProject = (organization: string, id: string) =>
  useChange({
    mutationFn: (attributes: NonNullable<RequestResource<'updateProject'>['attributes']>) => {
      const body = { data: { type: 'projects' as const, attributes } };
      return requireSuccess(api.PATCH('/api/v2/projects/{id}', { params: { path: { id } }, body }));
    },
    rereads: organizationKey(organization),
  });

export const useDeleteProject = (organization: string, id: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: () => requireSuccess(api.DELETE('/api/v2/projects/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      queries.removeQueries({ queryKey: projectQuery(organization, id).queryKey });
      void queries.invalidateQueries({ queryKey: organizationKey(organization) });
    },
  });
};

export type ProjectTag = ApiResource<'TagBinding'>['attributes'];

/** The tags that the project gives to its workspaces. */
export const projectTagsQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...projectsKey(organization), 'tags', id],
    queryFn: async ({ signal }): Promise<readonly ProjectTag[]> => {
      const params = { path: { id } };
      const bindings = await readData(api.GET('/api/v2/projects/{id}/tag-bindings', { params, signal }));
      return bindings.map(({ attributes }) => attributes);
    },
  });

type ProjectTagChange = {
  readonly kind: 'bind' | 'unbind';
  readonly key: string;
  /** The server removes only a tag with this value. */
  readonly value: string;
};

/** Sets or removes a tag of a project. Its workspaces inherit it. */
export const useChangeProjectTag = (organization: string, id: string) =>
  useChange({
    mutationFn: ({ kind, key, value }: ProjectTagChange) => {
      const params = { path: { id } };
      const body = { data: [{ type: 'tag-bindings' as const, attributes: { key, value } }] };
      return requireSuccess(
        kind === 'bind'
          ? api.PATCH('/api/v2/projects/{id}/tag-bindings', { params, body })
          : api.DELETE('/api/v2/projects/{id}/relationships/tag-bindings', { params, body }),
      );
    },
    rereads: organizationKey(organization),
  });
