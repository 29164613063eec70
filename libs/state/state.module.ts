import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Clock } from '#kernel';
import { EncryptedBlobs, SignedLinks, type BlobStore } from '#blob-store';
import { CurrentStates } from '#workspaces';
import { BackingDataHandler } from './backing-data.handler.js';
import { InlineStateLimit } from './inline-state.limit.js';
import { ResourcesController } from './resources.controller.js';
import { StateFilesController } from './state-files.controller.js';
import { StateVersionOutputsController } from './state-version-outputs.controller.js';
import { StateVersionsController } from './state-versions.controller.js';
import { StateVersionRenderer } from './state-versions.renderer.js';
import { AddStateVersionHandler, ReceiveStateFileHandler, RollBackStateHandler } from './state-versions.handler.js';
import { StateVersionCreator } from './state.births.js';
import { StateExtracts } from './state.extracts.js';
import { StateFiles } from './state.files.js';
import { StateLinks } from './state.links.js';
import { StateReaders } from './state.readers.js';
import { StateUploads } from './state.uploads.js';

export type StateOptions = {
  /** Where files lie; they are encrypted here, on their way in. */
  readonly blobs: BlobStore;
  /** 32 bytes. */
  readonly encryptionKey: Buffer;
  /** Origin under which clients reach us, without a slash at its end. */
  readonly publicUrl: string;
  /** Bytes of a state that may come within a request. */
  readonly inlineLimit: number;
};

@Module({})
export class StateModule {
  static with({ blobs, encryptionKey, publicUrl, inlineLimit }: StateOptions): DynamicModule {
    return {
      module: StateModule,
      // Workspaces show their current states and outputs, and know no more of this slice than the port that they declare.
      global: true,
      imports: [CqrsModule],
      controllers: [ResourcesController, StateFilesController, StateVersionOutputsController, StateVersionsController],
      providers: [
        AddStateVersionHandler,
        BackingDataHandler,
        ReceiveStateFileHandler,
        RollBackStateHandler,
        StateVersionCreator,
        StateExtracts,
        StateReaders,
        StateUploads,
        StateVersionRenderer,
        { provide: InlineStateLimit, useValue: new InlineStateLimit(inlineLimit) },
        { provide: CurrentStates, useExisting: StateVersionRenderer },
        // State holds secrets: there is no way to have it stored in the clear.
        { provide: StateFiles, useValue: new StateFiles(new EncryptedBlobs(blobs, encryptionKey)) },
        {
          provide: StateLinks,
          useFactory: (clock: Clock) =>
            new StateLinks(publicUrl, new SignedLinks(encryptionKey, 'state upload', clock)),
          inject: [Clock],
        },
      ],
      exports: [CurrentStates, StateFiles],
    };
  }
}
