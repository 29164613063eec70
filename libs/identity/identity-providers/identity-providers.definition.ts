import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { identityProvider } from './providers/identity-provider.js';
import { identityProviderEvents } from './providers/identity-provider.js';
import { identityProviders, providerSecrets } from './providers/identity-providers.projection.js';
import { statedGroups } from './sign-in/stated-groups.projection.js';

export const identityProvidersDefinition: ModuleDefinition = {
  name: 'identity-providers',
  kinds: identityProviderEvents,
  aggregates: [defineAggregate('idp', identityProvider)],
  projections: [toProjection(identityProviders), toProjection(providerSecrets), toProjection(statedGroups)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'identity_providers.stated_groups',
      backup: 'rows',
      organizationExport: { without: 'people keep their accounts at identity providers at the site' },
    },
  ],
};
