import { defineAggregate, toEventRegistry, toProjection, type ModuleDefinition } from '#event-store';
import { identityProvider } from './providers/identity-provider.js';
import { identityProviderEvents } from './providers/identity-providers.events.js';
import { identityProviders, providerSecrets } from './providers/identity-providers.projection.js';

export const identityProvidersDefinition: ModuleDefinition = {
  name: 'identity-providers',
  kinds: toEventRegistry(identityProviderEvents),
  aggregates: [defineAggregate('idp', identityProvider)],
  projections: [toProjection(identityProviders), toProjection(providerSecrets)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
