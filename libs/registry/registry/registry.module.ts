import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type { EncryptionKeys } from '#platform/encryption';
import { Clock } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { SignedLinks, type BlobStore } from '#storage/blob-store';
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
import { GpgKeysController } from './gpg-keys/gpg-keys.controller.js';
import { GpgKeysHandler } from './gpg-keys/gpg-keys.handler.js';
import { ProviderProtocolController } from './provider-protocol/provider-protocol.controller.js';
import { RegistryProviderPlatformsController } from './platforms/registry-provider-platforms.controller.js';
import { RegistryProviderVersionsController } from './versions/registry-provider-versions.controller.js';
import { RegistryProviderVersionsHandler } from './versions/registry-provider-versions.handler.js';
import { RegistryProvidersController } from './providers/registry-providers.controller.js';
import { RegistryProvidersHandler } from './providers/registry-providers.handler.js';
import { ReleaseFilesController } from './release-files/release-files.controller.js';
import { ReleaseFileReceiver, ReleaseLimits } from './release-files/release-file.receiver.js';
import { ReleaseFiles } from './release-files/release.files.js';
import { ReleaseLinks } from './release-files/release.links.js';
import { ReleaseUploads } from './release-files/release.uploads.js';

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

type RegistryOptions = {
  /** Store of the files. Files are stored unencrypted, because published providers are no secret. */
  readonly blobs: BlobStore;
  /** They sign links. */
  readonly encryptionKeys: EncryptionKeys;
  /** Origin under which clients reach this server, without a trailing slash. */
  readonly publicUrl: string;
  /** Size of the largest accepted zip, in bytes. */
  readonly archiveLimit: number;
};

@Module({})
export class RegistryModule {
  static with({ blobs, encryptionKeys, publicUrl, archiveLimit }: RegistryOptions): DynamicModule {
    return {
      module: RegistryModule,
      imports: [CqrsModule],
      controllers: [
        RegistryProvidersController,
        RegistryProviderVersionsController,
        RegistryProviderPlatformsController,
        ReleaseFilesController,
        GpgKeysController,
        ProviderProtocolController,
      ],
      providers: [
        RegistryProvidersHandler,
        RegistryProviderVersionsHandler,
        GpgKeysHandler,
        ReleaseFileReceiver,
        ReleaseUploads,
        { provide: ReleaseFiles, useValue: new ReleaseFiles(blobs) },
        { provide: ReleaseLimits, useValue: new ReleaseLimits(archiveLimit) },
        {
          provide: ReleaseLinks,
          useFactory: (clock: Clock) => {
            const linksFor = (purpose: string) => new SignedLinks(encryptionKeys, purpose, clock);
            return new ReleaseLinks(publicUrl, linksFor('release upload'), linksFor('release download'));
          },
          inject: [Clock],
        },
      ],
    };
  }
}
