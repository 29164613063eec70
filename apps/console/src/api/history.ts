import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
import { workspaceKey } from './workspaces.js';

export type WorkspaceChange = ApiResource<'WorkspaceChange'>;
export type ChangePage = { readonly data: readonly WorkspaceChange[] };
export type ChangedField = ApiResource<'WorkspaceFieldChange'>;

const PAGE_SIZE = 30;
/** The history has no past versions of people, so the holder of a lock has no name here. */
const PAST_INCLUDES = ['project', 'effective_tag_bindings'] as const;

/** The changes of a workspace, the newest first, page by page. */
export const changesQuery = (organization: string, name: string, id: string) =>
  pagedQuery([...workspaceKey(organization, name), 'changes', id], (page, signal) => {
    const params = { path: { id }, query: { ...page, 'page[size]': PAGE_SIZE } };
    return readDocument(api.GET('/api/v2/workspaces/{id}/history', { params, signal }));
  });

/** The workspace as it was at this time. While another time loads, the previous one stays on the screen. */
export const workspaceAsOfQuery = (organization: string, name: string, id: string, time: string) =>
  queryOptions({
    queryKey: [...workspaceKey(organization, name), 'as-of', id, time],
    queryFn: ({ signal }) => {
      const include = [...PAST_INCLUDES];
      const params = { path: { id }, query: { 'as-of': time, include } };
      return readDocument(api.GET('/api/v2/workspaces/{id}', { params, signal }));
    },
    // The past does not change.
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
