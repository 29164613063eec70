import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type IdentityProvider = ApiResource<'IdentityProvider'>;

const PROVIDERS_KEY = ['identity-providers'] as const;

/** The servers with which people can sign in to this site. */
export const identityProvidersQuery = () =>
  pagedQuery(PROVIDERS_KEY, (query, signal) =>
    readDocument(api.GET('/api/v2/admin/identity-providers', { params: { query }, signal })),
  );

export type ProviderAttributes = RequestResource<'createIdentityProvider'>['attributes'];

export const useCreateProvider = () =>
  useChange({
    mutationFn: (attributes: ProviderAttributes) => {
      const body = { data: { type: 'identity-providers' as const, attributes } };
      return readDocument(api.POST('/api/v2/admin/identity-providers', { body }));
    },
    // The request can have the secret of the client.
    gcTime: 0,
    rereads: PROVIDERS_KEY,
  });

type ChangedProvider = { readonly id: string; readonly attributes: Partial<ProviderAttributes> };

export const useChangeProvider = () =>
  useChange({
    mutationFn: ({ id, attributes }: ChangedProvider) => {
      const params = { path: { id } };
      const body = { data: { type: 'identity-providers' as const, attributes } };
      return readDocument(api.PATCH('/api/v2/admin/identity-providers/{id}', { params, body }));
    },
    gcTime: 0,
    rereads: PROVIDERS_KEY,
  });

export const useDeleteProvider = () =>
  useChange({
    mutationFn: (id: string) =>
      requireSuccess(api.DELETE('/api/v2/admin/identity-providers/{id}', { params: { path: { id } } })),
    rereads: PROVIDERS_KEY,
  });
