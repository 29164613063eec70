import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument } from './api-error.js';
import { api } from './client.js';
import { ONCE } from './once.js';
import { pagedQuery } from './pages.js';

/** Everything about the current state of a workspace has a key that begins with this one. */
export const currentStateKey = (workspace: string) => ['states', workspace] as const;

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
  pagedQuery(
    [...currentStateKey(workspace), 'resources'],
    (page, signal) => {
      const params = { path: { id: workspace }, query: page };
      return readDocument(api.GET('/api/v2/workspaces/{id}/resources', { params, signal }));
    },
    ONCE,
  );

/** The outputs of the current state. The values of sensitive outputs are null. */
export const outputsQuery = (workspace: string) =>
  queryOptions({
    ...ONCE,
    queryKey: [...currentStateKey(workspace), 'outputs'],
    queryFn: ({ signal }) => {
      const params = { path: { id: workspace } };
      const path = '/api/v2/workspaces/{id}/current-state-version-outputs';
      return readData(api.GET(path, { params, signal }));
    },
  });

/** Reads the value of one output, which can be sensitive. */
export const readOutputValue = async (id: string): Promise<unknown> =>
  (await readData(api.GET('/api/v2/state-version-outputs/{id}', { params: { path: { id } } }))).attributes.value;

export type StateVersionPage = ApiResource<'StateVersionPageWithIncluded'>;

/** The state versions of a workspace, the newest first, page by page. */
export const stateVersionsQuery = (workspace: string) =>
  pagedQuery(
    [...currentStateKey(workspace), 'versions'],
    (page, signal) => {
      const query = { ...page, 'page[size]': 50, include: ['created_by' as const] };
      const params = { path: { id: workspace }, query };
      return readDocument(api.GET('/api/v2/workspaces/{id}/state-versions', { params, signal }));
    },
    ONCE,
  );

/** The file of a state version. It can contain secrets, so it leaves the memory with the screen. */
export const stateFileQuery = (id: string) =>
  queryOptions({
    ...ONCE,
    gcTime: 0,
    queryKey: ['state-files', id],
    queryFn: ({ signal }): Promise<Readonly<Record<string, unknown>>> =>
      readDocument(api.GET('/api/v2/state-versions/{id}/download', { params: { path: { id } }, signal })),
  });
