import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type { EncryptionKeys } from '#platform/encryption';
import { Clock } from '#platform/kernel';
import { EncryptedBlobs, SignedLinks, type BlobStore } from '#storage/blob-store';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { ModuleFilesController } from './module-files.controller.js';
import { selectOrganizationFiles } from './module-files.queries.js';
import { ModuleProtocolController } from './module-protocol.controller.js';
import { RegistryModuleVersionsController } from './registry-module-versions.controller.js';
import { ModuleFiles } from './module.files.js';
import { ModuleLinks } from './module.links.js';
import { ModuleLimits, ModuleUploads } from './module.uploads.js';
import { registryModule, registryModuleEvents } from './registry-module.js';
import { RegistryModulesController } from './registry-modules.controller.js';
import { RegistryModulesHandler } from './registry-modules.handler.js';
import { registryModules, registryModuleVersions } from './registry-modules.projection.js';

export const modulesDefinition: ModuleDefinition = {
  name: 'modules',
  kinds: registryModuleEvents,
  aggregates: [defineAggregate('mod', registryModule)],
  projections: [toProjection(registryModules), toProjection(registryModuleVersions)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'modules.kept_archives',
      backup: 'rows',
      organizationExport: { without: 'a follower fills it from the events' },
    },
  ],
  selectOrganizationFiles,
};

type ModulesOptions = {
  readonly blobs: BlobStore;
  /** They encrypt archives, and sign links. */
  readonly encryptionKeys: EncryptionKeys;
  /** Origin under which clients reach this server, without a trailing slash. */
  readonly publicUrl: string;
  /** Size of the largest accepted archive, in bytes. */
  readonly moduleArchiveLimit: number;
};

@Module({})
export class ModulesModule {
  static with({ blobs, encryptionKeys, publicUrl, moduleArchiveLimit }: ModulesOptions): DynamicModule {
    return {
      module: ModulesModule,
      imports: [CqrsModule],
      controllers: [
        RegistryModulesController,
        RegistryModuleVersionsController,
        ModuleFilesController,
        ModuleProtocolController,
      ],
      providers: [
        RegistryModulesHandler,
        ModuleUploads,
        { provide: ModuleFiles, useValue: new ModuleFiles(new EncryptedBlobs(blobs, encryptionKeys)) },
        { provide: ModuleLimits, useValue: new ModuleLimits(moduleArchiveLimit) },
        {
          provide: ModuleLinks,
          useFactory: (clock: Clock) => {
            const linksFor = (purpose: string) => new SignedLinks(encryptionKeys, purpose, clock);
            return new ModuleLinks(publicUrl, linksFor('module upload'), linksFor('module download'));
          },
          inject: [Clock],
        },
      ],
    };
  }
}
