import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Ids } from '#kernel';
import { EventStore } from '#event-store';
import { Reads } from './reads.js';

/** Lets every slice say what it is about to show. */
@Global()
@Module({})
export class ReadsModule {
  static with(options: { readonly recorded: boolean }): DynamicModule {
    const useFactory = (store: EventStore, ids: Ids): Reads => new Reads(store, ids, options);
    const providers = [{ provide: Reads, useFactory, inject: [EventStore, Ids] }];
    return { module: ReadsModule, providers, exports: providers };
  }
}
