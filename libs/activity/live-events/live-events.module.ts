import { Module, type DynamicModule } from '@nestjs/common';
import { Authenticator } from '#api/access';
import { EventStore } from '#storage/event-store';
import { Clock } from '#platform/kernel';
import { EventsController } from './events/events.controller.js';
import { LIVE_STREAM_LIMITS, LiveStreams } from './events/live.streams.js';

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
