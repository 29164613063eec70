import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { gpgKey } from './gpg-key.js';
import { registryProvider } from './registry-provider.js';
import { registryProviderVersion } from './registry-provider-version.js';
import { registryEvents } from './registry.events.js';
import {
  gpgKeys,
  registryProviderPlatforms,
  registryProviders,
  registryProviderVersions,
} from './registry.projection.js';

export const registrySlice: Slice = {
  name: 'registry',
  kinds: kindsOf(registryEvents),
  aggregates: [
    aggregate('prov', registryProvider),
    aggregate('provver', registryProviderVersion),
    aggregate('gpgkey', gpgKey),
  ],
  projections: [
    projectionOf(registryProviders),
    projectionOf(registryProviderVersions),
    projectionOf(registryProviderPlatforms),
    projectionOf(gpgKeys),
  ],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
