import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument } from './api-error.js';
import { api } from './client.js';

const PAGE_SIZE = 100;

/** The server records reads of states in the audit trail, so nothing requests them again by itself. */
const ONCE = { staleTime: Number.POSITIVE_INFINITY, refetchOnWindowFocus: false } as const;

/** Everything about the current state of a workspace has a key that begins with this one. */
const currentStateKey = (workspace: string) => ['states', workspace] as const;

/** The current state version of the workspace with this id, and who created it. */
export const currentStateQuery = (workspace: string) =>
  queryOptions({
    ...ONCE,
    queryKey: [...currentStateKey(workspace), 'version'],
    queryFn: ({ signal }) => {
      const params = { path: { id: workspace }, query: { include: ['created_by' as const] } };
      return readDocument(api.GET('/api/v2/workspaces/{id}/current-state-version', { params, signal }));
    },
  });

/** The resources of the current state, page by page. */
export const resourcesQuery = (workspace: string) =>
  infiniteQueryOptions({
    ...ONCE,
    queryKey: [...currentStateKey(workspace), 'resources'],
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { id: workspace }, query: { 'page[number]': pageParam, 'page[size]': PAGE_SIZE } };
      return readDocument(api.GET('/api/v2/workspaces/{id}/resources', { params, signal }));
    },
    initialPageParam: 1,
    getNextPageParam: (page) => page.meta.pagination['next-page'],
  });

/** The outputs of the current state. The values of sensitive outputs are null. */
export const outputsQuery = (workspace: string) =>
  queryOptions({
    ...ONCE,
    queryKey: [...currentStateKey(workspace), 'outputs'],
    queryFn: async ({ signal }) => {
      const params = { path: { id: workspace } };
      const path = '/api/v2/workspaces/{id}/current-state-version-outputs';
      return (await readDocument(api.GET(path, { params, signal }))).data;
    },
  });

/** Reads the value of one output, which can be sensitive. */
export const readOutputValue = async (id: string): Promise<unknown> =>
  (await readDocument(api.GET('/api/v2/state-version-outputs/{id}', { params: { path: { id } } }))).data.attributes
    .value;

export type StateVersionPage = ApiResource<'StateVersionPageWithIncluded'>;

/** The state versions of a workspace, the newest first, page by page. */
export const stateVersionsQuery = (workspace: string) =>
  infiniteQueryOptions({
    ...ONCE,
    queryKey: [...currentStateKey(workspace), 'versions'],
    queryFn: ({ pageParam, signal }) => {
      const query = { 'page[number]': pageParam, 'page[size]': 50, include: ['created_by' as const] };
      const params = { path: { id: workspace }, query };
      return readDocument(api.GET('/api/v2/workspaces/{id}/state-versions', { params, signal }));
    },
    initialPageParam: 1,
    getNextPageParam: (page) => page.meta.pagination['next-page'],
  });

/** The file of a state version. It can contain secrets, so it leaves the memory with the screen. */
export const stateFileQuery = (id: string) =>
  queryOptions({
    ...ONCE,
    gcTime: 0,
    queryKey: ['state-files', id],
    queryFn: ({ signal }): Promise<Readonly<Record<string, unknown>>> =>
      readDocument(api.GET('/api/v2/state-versions/{id}/download', { params: { path: { id } }, signal })),
  });
