import type { ClientBase } from 'pg';
import type { TopicRecord } from './cloud-event.js';
import type { ConsumerPositions } from './consumer-positions.js';
import { HandlerFailure } from './handler-failure.js';
import type { ConsumerLogger } from './retry-pauses.js';
import { StreamGaps } from './stream-gaps.js';

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

/** Calls the handler of a consumer. */
export class HandlerCaller {
  private readonly gaps: StreamGaps;

  constructor(
    private readonly handle: RecordHandler,
    private readonly positions: ConsumerPositions,
    logger: ConsumerLogger,
  ) {
    this.gaps = new StreamGaps(logger);
  }

  /** Calls the handler with a record. Throws HandlerFailure if the handler throws. */
  async call({ client, topic, record }: HandlerCall): Promise<void> {
    // A replay can be limited to some types of events.
    const isReplay = Object.hasOwn(record.headers ?? {}, 'cadastre-replay');
    const storeVersion = async (stream: string, version: number): Promise<boolean> => {
      const { isNew, previous } = await this.positions.storeVersion(client, topic, stream, version);
      if (isNew && !isReplay) this.gaps.check({ topic, stream, version, previous });
      return isNew;
    };
    try {
      await this.handle(record, { client, topic, storeVersion });
    } catch (error) {
      throw new HandlerFailure(error);
    }
  }
}
