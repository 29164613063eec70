import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Ids } from '#platform/kernel';
import { EventStore } from '#storage/event-store';
import { ReadRecorder } from './read-recorder.js';

/** Provides the recorder of reads to every module. */
@Global()
@Module({})
export class ReadsModule {
  static with(options: { readonly recorded: boolean }): DynamicModule {
    const useFactory = (store: EventStore, ids: Ids): ReadRecorder => new ReadRecorder(store, ids, options);
    const providers = [{ provide: ReadRecorder, useFactory, inject: [EventStore, Ids] }];
    return { module: ReadsModule, providers, exports: providers };
  }
}
