import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';
import { organizationKey } from './organizations.js';
import { workspaceKey, type Workspace } from './workspaces.js';

const PATH = '/api/v2/workspaces/{id}/run-triggers';

export type RunTrigger = ApiResource<'RunTrigger'>;

const toKey = (organization: string, { attributes }: Workspace) => [
  ...workspaceKey(organization, attributes.name),
  'run-triggers',
];

/** `inbound`: the triggers that start runs in the workspace. `outbound`: those of which it is the source. */
export const runTriggersQuery = (organization: string, workspace: Workspace, type: 'inbound' | 'outbound') =>
  pagedQuery([...toKey(organization, workspace), type, workspace.id], (page, signal) => {
    const query = { ...page, 'filter[run-trigger][type]': type };
    return readDocument(api.GET(PATH, { params: { path: { id: workspace.id }, query }, signal }));
  });

export const organizationRunTriggersQuery = (organization: string) =>
  pagedQuery([...organizationKey(organization), 'run-triggers'], (query, signal) => {
    const params = { path: { organization }, query };
    return readDocument(api.GET('/api/v2/organizations/{organization}/run-triggers', { params, signal }));
  });

/** Lets applies of another workspace start runs in this one. */
export const useAddRunTrigger = (organization: string, workspace: Workspace) =>
  useChange({
    mutationFn: (source: string) =>
      requireSuccess(
        api.POST(PATH, {
          params: { path: { id: workspace.id } },
          body: {
            data: {
              type: 'run-triggers',
              attributes: {},
              relationships: { sourceable: { data: { id: source } } },
            },
          },
        }),
      ),
    rereads: toKey(organization, workspace),
  });

export const useDeleteRunTrigger = (organization: string, workspace: Workspace) =>
  useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE('/api/v2/run-triggers/{id}', { params: { path: { id } } })),
    rereads: toKey(organization, workspace),
  });
