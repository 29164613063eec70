import { queryOptions } from '@tanstack/react-query';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { workspaceKey, type Workspace } from './workspaces.js';

/** The present lock of a workspace: since when, and who holds it. Null if it was unlocked meanwhile. */
export const presentLockQuery = (organization: string, { id, attributes }: Workspace) =>
  queryOptions({
    queryKey: [...workspaceKey(organization, attributes.name), 'lock'],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { 'page[size]': 1 } };
      const { data } = await readDocument(api.GET('/api/v2/workspaces/{id}/lock-history', { params, signal }));
      return data.find((lock) => lock.attributes['unlocked-at'] === null) ?? null;
    },
  });
