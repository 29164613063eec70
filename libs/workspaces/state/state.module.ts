import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type { EncryptionKeys } from '#platform/encryption';
import { Clock } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { EncryptedBlobs, SignedLinks, type BlobStore } from '#storage/blob-store';
import { CurrentStates } from '#workspaces/workspaces';
import { backingData, backingDataEvents } from './backing-data/backing-data.js';
import { selectOrganizationFiles } from './files/organization-files.queries.js';
import { stateReads } from './reads.events.js';
import { stateVersionOutputs, stateVersions } from './state.projection.js';
import { BackingDataHandler } from './state-versions/backing-data.handler.js';
import { InlineStateLimit } from './uploads/inline-state.limit.js';
import { ResourceStatisticsController } from './statistics/resource-statistics.controller.js';
import { ResourcesController } from './outputs/resources.controller.js';
import { StateFilesController } from './state-versions/state-files.controller.js';
import { StateVersionOutputsController } from './outputs/state-version-outputs.controller.js';
import { StateVersionsController } from './state-versions/state-versions.controller.js';
import { StateVersionRenderer } from './state-versions/state-versions.renderer.js';
import { StateVersionReceiver } from './uploads/state-versions.receiver.js';
import { StateVersionCreator } from './uploads/state-versions.creator.js';
import { StateExtracts } from './files/state.extracts.js';
import { StateFiles } from './files/state.files.js';
import { StateLinks } from './files/state.links.js';
import { StateReaders } from './reading/state-reader.threads.js';
import { StateUploads } from './uploads/state.uploads.js';

/** Views and files of state. The rules of state versions, and so most events, belong to the workspace. */
export const stateDefinition: ModuleDefinition = {
  name: 'state',
  kinds: { ...backingDataEvents, ...stateReads },
  aggregates: [defineAggregate('sv', backingData)],
  projections: [toProjection(stateVersions), toProjection(stateVersionOutputs)],
  // The sweeper is not listed, because it needs the blob store, which only the processes have (apps/modules.ts).
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'state.kept_files',
      backup: 'rows',
      organizationExport: { without: 'a follower fills it from the events' },
    },
  ],
  selectOrganizationFiles,
};

export type StateOptions = {
  /** Store of the files. This module encrypts them before they are stored. */
  readonly blobs: BlobStore;
  readonly encryptionKeys: EncryptionKeys;
  /** Origin under which clients reach this server, without a trailing slash. */
  readonly publicUrl: string;
  /** Maximum size in bytes of a state within a request. */
  readonly inlineLimit: number;
};

@Module({})
export class StateModule {
  static with({ blobs, encryptionKeys, publicUrl, inlineLimit }: StateOptions): DynamicModule {
    return {
      module: StateModule,
      // Global, because workspaces show current states and outputs through a port that they declare themselves.
      global: true,
      imports: [CqrsModule],
      controllers: [
        ResourceStatisticsController,
        ResourcesController,
        StateFilesController,
        StateVersionOutputsController,
        StateVersionsController,
      ],
      providers: [
        BackingDataHandler,
        StateVersionCreator,
        StateVersionReceiver,
        StateExtracts,
        StateReaders,
        StateUploads,
        StateVersionRenderer,
        { provide: InlineStateLimit, useValue: new InlineStateLimit(inlineLimit) },
        { provide: CurrentStates, useExisting: StateVersionRenderer },
        // State contains secrets, so it is always stored encrypted.
        { provide: StateFiles, useValue: new StateFiles(new EncryptedBlobs(blobs, encryptionKeys)) },
        {
          provide: StateLinks,
          useFactory: (clock: Clock) =>
            new StateLinks(publicUrl, new SignedLinks(encryptionKeys, 'state upload', clock)),
          inject: [Clock],
        },
      ],
      exports: [CurrentStates, StateFiles],
    };
  }
}
