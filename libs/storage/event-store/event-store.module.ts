import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Clock, Ids } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { EventStore } from './event-store.js';

export type EventStoreOptions = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
};

/** Provides the log, its database, the clock and the source of ids to every module. */
@Global()
@Module({})
export class EventStoreModule {
  static with({ store, clock, ids }: EventStoreOptions): DynamicModule {
    const providers = [
      { provide: EventStore, useValue: store },
      { provide: Database, useValue: store.database },
      { provide: Clock, useValue: clock },
      { provide: Ids, useValue: ids },
    ];
    return { module: EventStoreModule, providers, exports: providers };
  }
}
