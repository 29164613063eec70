import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { gpgKey } from './gpg-keys/gpg-key.js';
import { registryProvider } from './providers/registry-provider.js';
import { registryProviderVersion } from './versions/registry-provider-version.js';
import { selectOrganizationFiles } from './release-files/organization-files.queries.js';
import { registryEvents } from './registry.events.js';
import {
  gpgKeys,
  registryProviderPlatforms,
  registryProviders,
  registryProviderVersions,
} from './registry.projection.js';

export const registryDefinition: ModuleDefinition = {
  name: 'registry',
  kinds: registryEvents,
  aggregates: [
    defineAggregate('prov', registryProvider),
    defineAggregate('provver', registryProviderVersion),
    defineAggregate('gpgkey', gpgKey),
  ],
  projections: [
    toProjection(registryProviders),
    toProjection(registryProviderVersions),
    toProjection(registryProviderPlatforms),
    toProjection(gpgKeys),
  ],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'registry.kept_files',
      backup: 'rows',
      organizationExport: { without: 'a follower fills it from the events' },
    },
    {
      table: 'registry.open_uploads',
      backup: 'rows',
      organizationExport: { without: 'clients repeat uploads that have not ended' },
    },
  ],
  selectOrganizationFiles,
};
