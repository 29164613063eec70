import type { ApiResource } from '#packages/client';
import { readDocument } from './api-error.js';
import { api } from './client.js';
import { pagedQuery, type PageParameters } from './pages.js';
import { workspaceKey, type Workspace } from './workspaces.js';

/** The directions of the graph: workspaces that read the state of a workspace, and workspaces whose state it reads. */
export type SharingDirection = 'remote-state-consumers' | 'remote-state-sources';

/** The workspaces that may read a state: all of the organization or of the project, or those that the workspace names. */
export type StateSharing = 'organization' | 'project' | 'names';

export const getSharing = ({ attributes }: Workspace): StateSharing => {
  if (attributes['global-remote-state']) return 'organization';
  return attributes['project-remote-state'] ? 'project' : 'names';
};

const WORKSPACES_IN_GRAPH = 6;

const readPage = (direction: SharingDirection, id: string, page: PageParameters, signal: AbortSignal) => {
  const params = { path: { id }, query: { ...page, 'page[size]': WORKSPACES_IN_GRAPH } };
  const answer: Promise<ApiResource<'WorkspacePage'>> =
    direction === 'remote-state-consumers'
      ? readDocument(api.GET('/api/v2/workspaces/{id}/relationships/remote-state-consumers', { params, signal }))
      : readDocument(api.GET('/api/v2/workspaces/{id}/relationships/remote-state-sources', { params, signal }));
  return answer;
};

/** The workspaces that share a state with this one in one direction, by name, a few at a time. */
export const sharingQuery = (organization: string, workspace: Workspace, direction: SharingDirection) =>
  pagedQuery(
    [...workspaceKey(organization, workspace.attributes.name), direction, workspace.id],
    async (page, signal) => {
      const { data, meta } = await readPage(direction, workspace.id, page, signal);
      const toNode = (one: Workspace) => ({ id: one.id, name: one.attributes.name, sharing: getSharing(one) });
      return { data: data.map(toNode), meta };
    },
  );
