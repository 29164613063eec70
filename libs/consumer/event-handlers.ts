import type { ClientBase } from 'pg';
import { decodeEvent, UnreadableRecordError, type CadastreEvent } from './cloud-event.js';
import { EVENT_VERSIONS, type EventType } from './event-types.js';
import type { RecordHandler } from './record-transactions.js';

/**
 * Handles events by their name. What a handler writes with `client` is committed together with the offset of the event.
 * Events without a handler are skipped.
 */
export type EventHandlers = {
  readonly [T in EventType]?: (event: CadastreEvent<T>, client: ClientBase) => Promise<void>;
};

/** Converts the data of one schema version to the next: `{ WorkspaceCreated: { 1: (data) => … } }` from 1 to 2. */
export type EventUpcasts = { readonly [T in EventType]?: Readonly<Record<number, (data: unknown) => unknown>> };

export type EventOptions = {
  readonly handlers: EventHandlers;
  /** For records of a schema version before the one of this package. */
  readonly upcasts?: EventUpcasts;
};

const upcast = (event: CadastreEvent, upcasts: EventUpcasts): CadastreEvent => {
  const newest = EVENT_VERSIONS[event.type];
  let { data, schemaVersion } = event as { data: unknown; schemaVersion: number };
  if (schemaVersion > newest) {
    throw new UnreadableRecordError(
      `${event.type} has schema version ${schemaVersion}, and this package reads up to ${newest}. Update it, then retry`,
    );
  }
  for (; schemaVersion < newest; schemaVersion += 1) {
    const convert = upcasts[event.type]?.[schemaVersion];
    if (!convert) throw new UnreadableRecordError(`no upcast of ${event.type} from schema version ${schemaVersion}`);
    data = convert(data);
  }
  return { ...event, data, schemaVersion } as CadastreEvent;
};

/**
 * Handles each event of the topics once, in the order of its stream. A record that the publisher sent twice is skipped:
 * its version is not above the last one of its stream.
 */
export const handleEvents =
  ({ handlers, upcasts = {} }: EventOptions): RecordHandler =>
  async (record, { client, storeVersion }) => {
    const event = decodeEvent(record);
    if (!(await storeVersion(event.stream, event.version))) return;
    const handler = handlers[event.type] as ((event: CadastreEvent, client: ClientBase) => Promise<void>) | undefined;
    if (handler) await handler(upcast(event, upcasts), client);
  };
