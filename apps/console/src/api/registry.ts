import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type Provider = ApiResource<'RegistryProvider'>;
export type ProviderVersion = ApiResource<'RegistryProviderVersion'>;
export type GpgKey = ApiResource<'GpgKey'>;
export type ProviderPlatform = ApiResource<'RegistryProviderPlatform'>;

const PAGE_SIZE = 20;
const ALL = 100;

/** Everything in the registry of an organization has a key that begins with this one. */
export const registryKey = (organization: string) => [...organizationKey(organization), 'registry'] as const;

const providerKey = (organization: string, name: string) => [...registryKey(organization), 'provider', name] as const;

/** The path parameters of a private provider. */
export const toProviderPath = (organization: string, name: string) => ({
  organization,
  registryName: 'private',
  namespace: organization,
  name,
});

export const PROVIDER_PATH =
  '/api/v2/organizations/{organization}/registry-providers/{registryName}/{namespace}/{name}';

/** The providers of the organization, page by page. */
export const providersQuery = (organization: string) =>
  pagedQuery([...registryKey(organization), 'providers'], (page, signal) => {
    const params = { path: { organization }, query: page };
    return readDocument(api.GET('/api/v2/organizations/{organization}/registry-providers', { params, signal }));
  });

/** Private providers with this text in their name, for suggestions. */
export const providerSuggestionsQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: [...registryKey(organization), 'suggestions', name],
    queryFn: ({ signal }) => {
      const query = { 'page[size]': PAGE_SIZE, q: name, 'filter[registry_name]': 'private' as const };
      const params = { path: { organization }, query };
      const path = '/api/v2/organizations/{organization}/registry-providers';
      return readData(api.GET(path, { params, signal }));
    },
  });

export const providerQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: [...providerKey(organization, name), 'details'],
    queryFn: ({ signal }) =>
      readData(api.GET(PROVIDER_PATH, { params: { path: toProviderPath(organization, name) }, signal })),
  });

/** The versions of a provider, newest first, page by page. */
export const versionsQuery = (organization: string, name: string) =>
  pagedQuery([...providerKey(organization, name), 'versions'], (page, signal) => {
    const query = { ...page, 'page[size]': PAGE_SIZE };
    const params = { path: toProviderPath(organization, name), query };
    return readDocument(api.GET(`${PROVIDER_PATH}/versions`, { params, signal }));
  });

/** The platforms of a version. */
export const platformsQuery = (organization: string, name: string, version: string) =>
  queryOptions({
    queryKey: [...providerKey(organization, name), 'platforms', version],
    queryFn: ({ signal }) => {
      const path = { ...toProviderPath(organization, name), version };
      const params = { path, query: { 'page[size]': ALL } };
      return readData(api.GET(`${PROVIDER_PATH}/versions/{version}/platforms`, { params, signal }));
    },
  });

/** The public keys that sign versions. */
export const gpgKeysQuery = (organization: string) =>
  queryOptions({
    queryKey: [...registryKey(organization), 'gpg-keys'],
    queryFn: ({ signal }) => {
      const params = { query: { 'filter[namespace]': organization, 'page[size]': ALL } };
      return readData(api.GET('/api/registry/private/v2/gpg-keys', { params, signal }));
    },
  });

export const useAddGpgKey = (organization: string) =>
  useChange({
    mutationFn: (armor: string) => {
      const attributes = { namespace: organization, 'ascii-armor': armor };
      return readDocument(
        api.POST('/api/registry/private/v2/gpg-keys', { body: { data: { type: 'gpg-keys', attributes } } }),
      );
    },
    rereads: registryKey(organization),
  });

/** Something in the registry that can be deleted. */
export type RegistryTarget =
  | { readonly kind: 'provider'; readonly id: string; readonly name: string }
  | { readonly kind: 'version'; readonly name: string; readonly version: string }
  | { readonly kind: 'key'; readonly keyId: string };

export const useDeleteFromRegistry = (organization: string) =>
  useChange({
    mutationFn: (target: RegistryTarget) => {
      if (target.kind === 'key') {
        const path = { namespace: organization, keyId: target.keyId };
        return requireSuccess(
          api.DELETE('/api/registry/private/v2/gpg-keys/{namespace}/{keyId}', { params: { path } }),
        );
      }
      const path = toProviderPath(organization, target.name);
      if (target.kind === 'provider') return requireSuccess(api.DELETE(PROVIDER_PATH, { params: { path } }));
      const params = { path: { ...path, version: target.version } };
      return requireSuccess(api.DELETE(`${PROVIDER_PATH}/versions/{version}`, { params }));
    },
    rereads: registryKey(organization),
  });

export type PublicProvider = { readonly namespace: string; readonly name: string };

/** Lists a provider of the public registry, or takes it from the list. */
export const useChangePublicProvider = (organization: string) =>
  useChange({
    mutationFn: ({ action, namespace, name }: PublicProvider & { readonly action: 'add' | 'remove' }) => {
      if (action === 'remove') {
        const path = { organization, registryName: 'public', namespace, name };
        return requireSuccess(api.DELETE(PROVIDER_PATH, { params: { path } }));
      }
      const attributes = { namespace, name, 'registry-name': 'public' };
      const body = { data: { type: 'registry-providers' as const, attributes } };
      const params = { path: { organization } };
      return requireSuccess(api.POST('/api/v2/organizations/{organization}/registry-providers', { params, body }));
    },
    rereads: registryKey(organization),
  });
