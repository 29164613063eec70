import { sql, type Projection } from '#platform/kernel';
import { buildSecretDeletion } from '#storage/vault';
import type { IdentityProviderEvent } from './identity-provider.js';
import { PROVIDER_SETTINGS } from '../protocol/provider-settings.js';

export const identityProviders: Projection<IdentityProviderEvent> = {
  name: 'identity_providers',
  version: PROVIDER_SETTINGS.version,
  tables: ['identity_providers'],
  on: {
    IdentityProviderCreated: (settings, { stream, time }) => sql`
      insert into identity_providers (id, settings, created_at) values (${stream}, ${sql.json(settings)}, ${time})`,
    IdentityProviderUpdated: ({ changes }, { stream }) => sql`
      update identity_providers set settings = settings || ${sql.json(changes)}::jsonb where id = ${stream}`,
    IdentityProviderDeleted: (_, { stream }) => sql`delete from identity_providers where id = ${stream}`,
  },
};

/** Deletes the client's secret from the vault. `tables` is empty, because the vault is not a view. */
export const providerSecrets: Projection<IdentityProviderEvent> = {
  name: 'identity_provider_secrets',
  tables: [],
  on: {
    IdentityProviderCreated: null,
    IdentityProviderUpdated: ({ changes }, { stream }) =>
      changes.hasClientSecret === false ? buildSecretDeletion(sql`${stream}`) : [],
    IdentityProviderDeleted: (_, { stream }) => buildSecretDeletion(sql`${stream}`),
  },
};
