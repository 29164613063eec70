import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { ONCE } from './once.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type SshKey = ApiResource<'SshKey'>;

const TYPE = 'ssh-keys';
const KEYS = '/api/v2/organizations/{organization}/ssh-keys';
const KEY = '/api/v2/ssh-keys/{id}';
/** Names of workspaces that a person can read at a glance. */
const SHOWN_USERS = 20;

const keysKey = (organization: string) => [...organizationKey(organization), TYPE] as const;

/** The keys without their texts, page by page. The server records this read in the audit trail. */
export const sshKeysQuery = (organization: string) =>
  pagedQuery(
    [...keysKey(organization), 'list'],
    (page, signal) => readDocument(api.GET(KEYS, { params: { path: { organization }, query: page }, signal })),
    ONCE,
  );

type KeyUsers = { readonly names: readonly string[]; readonly total: number };

/** The workspaces that use a key. */
export const sshKeyUsersQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...organizationKey(organization), 'workspaces', 'with-ssh-key', id],
    queryFn: async ({ signal }): Promise<KeyUsers> => {
      const query = { 'page[size]': SHOWN_USERS, 'filter[ssh-key][id]': id };
      const params = { path: { organization }, query };
      const path = '/api/v2/organizations/{organization}/workspaces';
      const { data, meta } = await readDocument(api.GET(path, { params, signal }));
      return { names: data.map(({ attributes }) => attributes.name), total: meta.pagination['total-count'] };
    },
  });

export const useAddSshKey = (organization: string) =>
  useChange({
    mutationFn: (attributes: RequestResource<'createSshKey'>['attributes']) =>
      requireSuccess(
        api.POST(KEYS, { params: { path: { organization } }, body: { data: { type: TYPE, attributes } } }),
      ),
    // The request has the private key.
    gcTime: 0,
    rereads: keysKey(organization),
  });

export const useChangeSshKey = (organization: string, id: string) =>
  useChange({
    mutationFn: (attributes: RequestResource<'updateSshKey'>['attributes']) =>
      requireSuccess(api.PATCH(KEY, { params: { path: { id } }, body: { data: { type: TYPE, attributes } } })),
    gcTime: 0,
    rereads: keysKey(organization),
  });

export const useDeleteSshKey = (organization: string, id: string) =>
  useChange({
    mutationFn: () => requireSuccess(api.DELETE(KEY, { params: { path: { id } } })),
    rereads: keysKey(organization),
  });
