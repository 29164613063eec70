import { Module, type DynamicModule } from '@nestjs/common';
import { Clock } from '#platform/kernel';
import { toProjection, type ModuleDefinition, EventStore } from '#storage/event-store';
import { Authenticator } from '#api/access';
import { grantedScopes } from './scopes/granted-scopes.projection.js';
import { EventsController } from './events/events.controller.js';
import { LIVE_STREAM_LIMITS, LiveStreams } from './events/live.streams.js';

/** The view of live streams. The module has no events of its own. */
export const liveEventsDefinition: ModuleDefinition = {
  name: 'live-events',
  kinds: {},
  aggregates: [],
  projections: [toProjection(grantedScopes)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

export type LiveEventsOptions = {
  /** Open streams of this process, and of one caller. */
  readonly liveStreams: { readonly total: number; readonly perCaller: number };
};

@Module({ controllers: [EventsController] })
export class LiveEventsModule {
  static with({ liveStreams }: LiveEventsOptions): DynamicModule {
    return {
      module: LiveEventsModule,
      providers: [
        {
          provide: LiveStreams,
          useFactory: (store: EventStore, clock: Clock, authenticator: Authenticator) =>
            new LiveStreams(store, clock, authenticator, { ...LIVE_STREAM_LIMITS, ...liveStreams }),
          inject: [EventStore, Clock, Authenticator],
        },
      ],
    };
  }
}
