import { z } from 'zod';
import { defineEvents, type EventRegistry, type EventsOf, type RecordedEvent } from '#platform/kernel';

/** Events of an invented domain, so that tests of the message log need no module. */
const kinds = defineEvents(
  { topic: 'lamps', stream: 'lamp', live: { unsent: 'a sample' } },
  {
    LampLit: {
      schema: z.strictObject({ room: z.string(), watts: z.int().min(1) }),
      audit: { unaudited: 'a sample' },
    },
    LampBroken: { schemaVersion: 2, schema: z.strictObject({ room: z.string() }), audit: { unaudited: 'a sample' } },
    DoorOpened: {
      topic: 'doors',
      schema: z.strictObject({ by: z.string().nullable() }),
      audit: { unaudited: 'a sample' },
    },
  },
);

export type SampleEvent = EventsOf<typeof kinds>;

export const sampleEventKinds: EventRegistry = kinds;

const FIRST_TIME = Date.UTC(2025, 0, 1);

/** Returns the event at a position of a log. Its ids and times follow from the position. */
export const createRecordedEvent = (
  position: number,
  stream: string,
  version: number,
  event?: SampleEvent,
): RecordedEvent => ({
  ...(event ?? { type: 'LampLit', data: { room: stream, watts: 40 } }),
  id: `0190f3a0-0000-7000-8000-${position.toString(16).padStart(12, '0')}`,
  stream,
  version,
  schemaVersion: event ? kinds[event.type].schemaVersion : 1,
  organization: 'org-4nZ8vKq2RtYw5xBc',
  time: new Date(FIRST_TIME + position * 1_000).toISOString(),
  context: {
    accessor: { id: 'user-7hGt3KmPq9RsVw2X', type: 'users', name: 'Ada' },
    auth: 'Client',
    impersonator: null,
    request: { id: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77', address: '192.0.2.7', userAgent: 'go-tfe' },
    correlation: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77',
    causation: null,
  },
  transaction: String(700 + position),
  position,
});

/** Returns a log of this many events, distributed over the streams in turn. */
export const sampleModule = (events: number, streams: number): readonly RecordedEvent[] =>
  Array.from({ length: events }, (_, index) =>
    createRecordedEvent(index + 1, `lamp-${index % streams}`, Math.floor(index / streams) + 1),
  );
