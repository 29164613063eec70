import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { describeHolder, findIncluded } from './included.js';
import { organizationKey } from './organizations.js';
import { createTagReader, type TagFact } from './tag-facts.js';

/* What a change of several workspaces needs to know about each of them, and the requests that change one of them. */

type FactPage = ApiResource<'WorkspacePageWithIncluded'>;

/** The number of ids that the API accepts in one request. */
const IDS_IN_REQUEST = 100;

export type WorkspaceFacts = {
  readonly id: string;
  readonly name: string;
  readonly project: { readonly id: string; readonly name: string; readonly canMove: boolean };
  readonly tags: readonly TagFact[];
  readonly lock: { readonly holderId: string | null; readonly holder: string; readonly reason: string } | null;
  readonly permissions: ApiResource<'Workspace'>['attributes']['permissions'];
};

const toFacts = (
  page: FactPage,
  workspace: FactPage['data'][number],
  readTags: ReturnType<typeof createTagReader>,
): WorkspaceFacts => {
  const { id, attributes, relationships } = workspace;
  const project = findIncluded(page, relationships.project.data);
  return {
    id,
    name: attributes.name,
    project: {
      id: relationships.project.data?.id ?? '',
      name: project?.attributes.name ?? '',
      canMove: project?.attributes.permissions['can-move-workspace'] ?? false,
    },
    tags: readTags(workspace),
    lock: attributes.locked
      ? {
          holderId: relationships['locked-by'].data?.id ?? null,
          holder: describeHolder(page, relationships['locked-by'].data),
          reason: attributes['locked-reason'] ?? '',
        }
      : null,
    permissions: attributes.permissions,
  };
};

const readFacts = async (organization: string, ids: readonly string[], signal: AbortSignal) => {
  const query = {
    'filter[id]': [...ids],
    'page[size]': IDS_IN_REQUEST,
    include: ['project' as const, 'locked_by' as const, 'effective_tag_bindings' as const],
  };
  const params = { path: { organization }, query };
  const page = await readDocument(api.GET('/api/v2/organizations/{organization}/workspaces', { params, signal }));
  const readTags = createTagReader(page);
  return page.data.map((workspace) => toFacts(page, workspace, readTags));
};

const splitIds = (ids: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(ids.length / IDS_IN_REQUEST) }, (_, index) =>
    ids.slice(index * IDS_IN_REQUEST, (index + 1) * IDS_IN_REQUEST),
  );

/** The workspaces with these ids as they are now, by name. Deleted ones are absent. Never taken from memory. */
export const workspaceFactsQuery = (organization: string, ids: readonly string[]) =>
  queryOptions({
    // Not below the key of the list, because live messages must not change a preview that a person reads.
    queryKey: ['bulk-facts', organization, ids],
    queryFn: async ({ signal }): Promise<readonly WorkspaceFacts[]> => {
      const pages = await Promise.all(splitIds(ids).map((part) => readFacts(organization, part, signal)));
      return pages.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });

export type TargetProject = {
  readonly id: string;
  readonly name: string;
  readonly canMove: boolean;
  /** Keys that the project binds and that are reserved, so that its workspaces may not have values of their own. */
  readonly fixedKeys: readonly string[];
};

const MAX_RESERVED_KEYS = 100;

/** Reserved keys that forbid to override the values of projects. */
const readForbiddingKeys = async (organization: string, signal: AbortSignal): Promise<readonly string[]> => {
  const params = { path: { organization }, query: { 'page[size]': MAX_RESERVED_KEYS } };
  const path = '/api/v2/organizations/{organization}/reserved-tag-keys';
  const { data } = await readDocument(api.GET(path, { params, signal }));
  return data.flatMap(({ attributes }) => (attributes['disable-overrides'] ? [attributes.key] : []));
};

export const forbiddingKeysQuery = (organization: string) =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'tags', 'forbidding'],
    queryFn: ({ signal }) => readForbiddingKeys(organization, signal),
  });

/** A project that workspaces are to move to. */
export const targetProjectQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'projects', 'target', id],
    queryFn: async ({ signal }): Promise<TargetProject> => {
      const params = { path: { id } };
      const [project, bindings, forbidding] = await Promise.all([
        readDocument(api.GET('/api/v2/projects/{id}', { params, signal })),
        readDocument(api.GET('/api/v2/projects/{id}/tag-bindings', { params, signal })),
        readForbiddingKeys(organization, signal),
      ]);
      const { name, permissions } = project.data.attributes;
      const bound = new Set(bindings.data.map(({ attributes }) => attributes.key));
      return {
        id,
        name,
        canMove: permissions['can-move-workspace'],
        fixedKeys: forbidding.filter((key) => bound.has(key)),
      };
    },
  });

/** One change of one workspace. */
export type SingleChange =
  | { readonly kind: 'lock'; readonly reason: string }
  | { readonly kind: 'unlock' }
  | { readonly kind: 'bind'; readonly key: string; readonly value: string }
  /** With a value, the server removes only a tag with this value. */
  | { readonly kind: 'unbind'; readonly key: string; readonly value: string }
  | { readonly kind: 'move'; readonly project: string };

const toBindingBody = ({ key, value }: { readonly key: string; readonly value: string }) => ({
  data: [{ type: 'tag-bindings' as const, attributes: { key, value } }],
});

/** Sends one change. Throws an `ApiError` with the reason of a refusal. */
export const sendChange = async (id: string, change: SingleChange): Promise<void> => {
  const params = { path: { id } };
  switch (change.kind) {
    case 'lock': {
      const body = change.reason === '' ? {} : { reason: change.reason };
      return requireSuccess(api.POST('/api/v2/workspaces/{id}/actions/lock', { params, body }));
    }
    case 'unlock':
      return requireSuccess(api.POST('/api/v2/workspaces/{id}/actions/unlock', { params }));
    case 'bind':
      return requireSuccess(api.PATCH('/api/v2/workspaces/{id}/tag-bindings', { params, body: toBindingBody(change) }));
    case 'unbind': {
      const path = '/api/v2/workspaces/{id}/relationships/tag-bindings';
      return requireSuccess(api.DELETE(path, { params, body: toBindingBody(change) }));
    }
    case 'move': {
      const project = { data: { type: 'projects' as const, id: change.project } };
      const body = { data: { type: 'workspaces' as const, attributes: {}, relationships: { project } } };
      return requireSuccess(api.PATCH('/api/v2/workspaces/{id}', { params, body }));
    }
  }
};
