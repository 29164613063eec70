import type { ClientBase } from 'pg';
import type { TopicRecord } from './cloud-event.js';
import type { ConsumerPositions } from './consumer-positions.js';
import { HandlerFailure } from './handler-failure.js';

/** What a handler of a record gets besides the record. */
export type RecordContext = {
  /** A connection in the transaction that also stores the offset. */
  readonly client: ClientBase;
  readonly topic: string;
  /** Stores the last version of a stream. Returns false if that version, or a later one, was handled before. */
  readonly storeVersion: (stream: string, version: number) => Promise<boolean>;
};

/** Handles one record. Throws if the record cannot be handled; what it wrote is then undone. */
export type RecordHandler = (record: TopicRecord, context: RecordContext) => Promise<void>;

export type HandlerCall = { readonly client: ClientBase; readonly topic: string; readonly record: TopicRecord };

/** Calls the handler with a record. Throws HandlerFailure if the handler throws. */
export const callHandler = async (
  handle: RecordHandler,
  positions: ConsumerPositions,
  { client, topic, record }: HandlerCall,
): Promise<void> => {
  const storeVersion = (stream: string, version: number): Promise<boolean> =>
    positions.storeVersion(client, topic, stream, version);
  try {
    await handle(record, { client, topic, storeVersion });
  } catch (error) {
    throw new HandlerFailure(error);
  }
};
