import { queryOptions } from '@tanstack/react-query';
import { readAllPages } from './pages.js';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { ONCE } from './once.js';
import { organizationKey } from './organizations.js';
import { useChange } from './use-change.js';
import { workspacesKey, type Workspace } from './workspaces.js';

/** The names of the SSH keys of an organization. */
export const sshKeyNamesQuery = (organization: string) =>
  queryOptions({
    ...ONCE,
    queryKey: [...organizationKey(organization), 'ssh-keys', 'names'],
    queryFn: async () => {
      const pages = await readAllPages((page) => {
        const params = { path: { organization }, query: page };
        return readDocument(api.GET('/api/v2/organizations/{organization}/ssh-keys', { params }));
      });
      return pages.flatMap(({ data }) => data.map(({ id, attributes }) => ({ id, name: attributes.name })));
    },
  });

/** Assigns a key to a workspace. Null removes it. */
export const useAssignSshKey = (organization: string, { id }: Workspace) =>
  useChange({
    mutationFn: (key: string | null) => {
      const body = { data: { type: 'workspaces' as const, attributes: { id: key } } };
      return requireSuccess(
        api.PATCH('/api/v2/workspaces/{id}/relationships/ssh-key', { params: { path: { id } }, body }),
      );
    },
    rereads: workspacesKey(organization),
  });
