import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument } from './api-error.js';
import { api } from './client.js';
import { describeHolder, findIncluded } from './included.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { createTagReader, type TagFact } from './tag-facts.js';
import { useChange } from './use-change.js';

export type Workspace = ApiResource<'Workspace'>;
export type WorkspaceDocument = ApiResource<'WorkspaceDocumentWithIncluded'>;
type WorkspacePage = ApiResource<'WorkspacePageWithIncluded'>;

/** The number of workspaces that the API returns at most in one page. */
export const WORKSPACES_IN_PAGE = 100;

const WORKSPACES_OF_PROJECT = 10;

/** The filters and the order of the list. The names are those in the address of the screen. */
export type WorkspaceSearch = {
  readonly name?: string;
  /** `key` or `key:value`. */
  readonly tags?: readonly string[];
  /** The id of a project. */
  readonly project?: string;
  readonly status?: readonly string[];
  /** Only workspaces without a value for a reserved tag key. */
  readonly gaps?: 'true';
  /** Only locked workspaces, or only unlocked ones. */
  readonly locked?: LockState;
  readonly sort?: WorkspaceSort;
};

export const LOCK_STATES = ['true', 'false'] as const;
type LockState = (typeof LOCK_STATES)[number];

export const WORKSPACE_SORTS = [
  'name',
  '-name',
  'latest-change-at',
  '-latest-change-at',
  'current-run.created-at',
  '-current-run.created-at',
] as const;
type WorkspaceSort = (typeof WORKSPACE_SORTS)[number];

export const workspacesKey = (organization: string) => [...organizationKey(organization), 'workspaces'] as const;

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

/** A row of the list. The documents of a hundred thousand workspaces would take 300 MB. */
export type WorkspaceListRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly project: string;
  /** Includes the tags of the project. */
  readonly tags: readonly TagFact[];
  readonly resourceCount: number;
  readonly changedAt: string;
  readonly lock: { readonly holder: string; readonly reason: string } | null;
  readonly run: { readonly status: ApiResource<'Run'>['attributes']['status']; readonly hasChanges: boolean } | null;
};

type WorkspaceListPage = { readonly rows: readonly WorkspaceListRow[]; readonly total: number };

const toListRow = (
  { id, attributes, relationships }: Workspace,
  page: WorkspacePage,
  tags: readonly TagFact[],
): WorkspaceListRow => {
  const run = findIncluded(page, relationships['current-run'].data)?.attributes;
  return {
    id,
    name: attributes.name,
    description: attributes.description,
    project: findIncluded(page, relationships.project.data)?.attributes.name ?? '',
    tags,
    resourceCount: attributes['resource-count'],
    changedAt: attributes['latest-change-at'],
    lock: attributes.locked
      ? { holder: describeHolder(page, relationships['locked-by'].data), reason: attributes['locked-reason'] ?? '' }
      : null,
    run: run ? { status: run.status, hasChanges: run['has-changes'] } : null,
  };
};

/** One page of the list, with the projects, the runs, the holders of locks and the tags that its rows show. */
export const workspacesPageQuery = (organization: string, search: WorkspaceSearch, page: number) =>
  queryOptions({
    queryKey: [...workspacesKey(organization), 'list', search, page],
    queryFn: async ({ signal }): Promise<WorkspaceListPage> => {
      const query = {
        'page[number]': page,
        'page[size]': WORKSPACES_IN_PAGE,
        include: ['project' as const, 'current_run' as const, 'locked_by' as const, 'effective_tag_bindings' as const],
        ...(search.name ? { 'search[name]': search.name } : {}),
        ...(search.project ? { 'filter[project][id]': search.project } : {}),
        ...(search.status?.length ? { 'filter[current-run][status]': [...search.status] } : {}),
        ...(search.gaps ? { 'filter[tag-gaps]': search.gaps } : {}),
        ...(search.locked ? { 'filter[locked]': search.locked } : {}),
        ...(search.sort ? { sort: search.sort } : {}),
        ...toTagParameters(search.tags ?? []),
      };
      const params = { path: { organization }, query };
      const document = await readDocument(
        api.GET('/api/v2/organizations/{organization}/workspaces', { params, signal }),
      );
      const readTags = createTagReader(document);
      return {
        rows: document.data.map((workspace) => toListRow(workspace, document, readTags(workspace))),
        total: document.meta.pagination['total-count'],
      };
    },
  });

/** The workspaces of a project by name, a few at a time. */
export const projectWorkspacesQuery = (organization: string, project: string) =>
  pagedQuery([...workspacesKey(organization), 'project', project], (page, signal) => {
    const query = { ...page, 'page[size]': WORKSPACES_OF_PROJECT, 'filter[project][id]': project };
    const params = { path: { organization }, query };
    return readDocument(api.GET('/api/v2/organizations/{organization}/workspaces', { params, signal }));
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
    queryFn: ({ signal }) =>
      readData(
        api.GET('/api/v2/organizations/{organization}/workspaces', {
          params: { path: { organization }, query: { 'page[size]': 8, 'search[name]': name } },
          signal,
        }),
      ),
  });

/** The screens of an open workspace show these related resources. */
export const WORKSPACE_INCLUDES = [
  'project',
  'current_run',
  'locked_by',
  'effective_tag_bindings',
  'current_assessment_result',
] as const;

export const workspaceQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: [...workspaceKey(organization, name), 'details'],
    queryFn: ({ signal }) =>
      readDocument(
        api.GET('/api/v2/organizations/{organization}/workspaces/{name}', {
          params: {
            path: { organization, name },
            query: { include: [...WORKSPACE_INCLUDES] },
          },
          signal,
        }),
      ),
  });

type LockChange =
  | { readonly action: 'lock'; readonly reason: string; readonly seconds?: number | null }
  | { readonly action: 'unlock' | 'force-unlock' };

/** Locks or unlocks a workspace. */
export const useChangeLock = (organization: string, { id }: Workspace) =>
  useChange({
    mutationFn: (change: LockChange) => {
      const params = { path: { id } };
      if (change.action === 'lock') {
        const { reason, seconds } = change;
        const body = { ...(reason === '' ? {} : { reason }), ...(seconds ? { 'expires-in': seconds } : {}) };
        return readDocument(api.POST('/api/v2/workspaces/{id}/actions/lock', { params, body }));
      }
      if (change.action === 'unlock')
        return readDocument(api.POST('/api/v2/workspaces/{id}/actions/unlock', { params }));
      return readDocument(api.POST('/api/v2/workspaces/{id}/actions/force-unlock', { params }));
    },
    // The lists show the lock too.
    rereads: workspacesKey(organization),
  });

/** A workspace by its id, for a choice that an address names. */
export const workspaceByIdQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...workspacesKey(organization), 'by-id', id],
    queryFn: ({ signal }) => readData(api.GET('/api/v2/workspaces/{id}', { params: { path: { id } }, signal })),
  });
