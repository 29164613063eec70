import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { pagedQuery, readAllPages, type PageParameters } from './pages.js';
import { useChange } from './use-change.js';
import type { StateSharing } from './shared-states.js';
import { workspaceKey, workspacesKey, type Workspace } from './workspaces.js';

const PATH = '/api/v2/workspaces/{id}/relationships/remote-state-consumers';

const readNamed = (id: string, page: PageParameters, signal?: AbortSignal) => {
  // Without it, the list has every workspace that may read the state because of the project or the organization.
  const query = { ...page, show_only_configured: 'true' };
  return readDocument(api.GET(PATH, { params: { path: { id }, query }, ...(signal ? { signal } : {}) }));
};

/** The workspaces that a workspace names as readers of its state, by name. Only those that the person may read. */
export const namedConsumersQuery = (organization: string, { id, attributes }: Workspace) =>
  pagedQuery([...workspaceKey(organization, attributes.name), 'named-consumers', id], (page, signal) =>
    readNamed(id, page, signal),
  );

const toBody = (ids: readonly string[]) => ({ data: ids.map((id) => ({ type: 'workspaces' as const, id })) });

/** The number of workspaces that one request may name. */
const MAX_IDS = 1_000;

const addConsumers = async (id: string, consumers: readonly string[]): Promise<void> => {
  for (let start = 0; start < consumers.length; start += MAX_IDS) {
    const body = toBody(consumers.slice(start, start + MAX_IDS));
    await requireSuccess(api.POST(PATH, { params: { path: { id } }, body }));
  }
};

/** Adds a workspace to those that may read the state of this one, or removes it. */
export const useChangeConsumer = (organization: string, { id }: Workspace) =>
  useChange({
    mutationFn: ({ consumer, isAdded }: { readonly consumer: string; readonly isAdded: boolean }) =>
      isAdded
        ? addConsumers(id, [consumer])
        : requireSuccess(api.DELETE(PATH, { params: { path: { id } }, body: toBody([consumer]) })),
    rereads: workspacesKey(organization),
  });

type SharingChange = { readonly sharing: StateSharing; readonly consumers: readonly string[] };

/**
 * Changes which workspaces may read the state, and returns the change that undoes it. The server forgets the named workspaces when
 * all workspaces may read the state.
 */
export const useChangeSharing = (organization: string, workspace: Workspace, present: StateSharing) =>
  useChange({
    mutationFn: async ({ sharing, consumers }: SharingChange): Promise<SharingChange> => {
      const { id } = workspace;
      const pages = await readAllPages((page) => readNamed(id, page));
      const attributes = {
        'global-remote-state': sharing === 'organization',
        'project-remote-state': sharing === 'project',
      };
      const body = { data: { type: 'workspaces' as const, attributes } };
      await requireSuccess(api.PATCH('/api/v2/workspaces/{id}', { params: { path: { id } }, body }));
      await addConsumers(id, consumers);
      return { sharing: present, consumers: pages.flatMap(({ data }) => data.map((consumer) => consumer.id)) };
    },
    rereads: workspacesKey(organization),
  });
