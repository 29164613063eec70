import type { ClientBase } from 'pg';
import { decodeEvent, UnreadableRecordError, type CadastreEvent } from './cloud-event.js';
import { EVENT_UPCASTS, EVENT_VERSIONS, type MissingMembers, type EventType } from './event-types.js';
import type { RecordHandler } from './record-handler.js';

/**
 * Handles events by their name. What a handler writes with `client` is committed together with the offset of the event.
 * Events without a handler are skipped.
 */
export type EventHandlers = {
  readonly [T in EventType]?: (event: CadastreEvent<T>, client: ClientBase) => Promise<void>;
};

export type EventOptions = { readonly handlers: EventHandlers };

const addMembers = (data: unknown, { to, add }: MissingMembers): unknown => {
  const values = data as Readonly<Record<string, unknown>>;
  if (to === undefined) return { ...values, ...add, ...values };
  const member = values[to] as Readonly<Record<string, unknown>> | null | undefined;
  return member === null ? values : { ...values, [to]: { ...member, ...add, ...member } };
};

/** Returns false for an event that is newer than this package, and for a name that every object has, such as `constructor`. */
const isEventType = (type: string): boolean => Object.hasOwn(EVENT_VERSIONS, type);

/** Returns the event in the newest version of its schema: topics keep records as they were published. */
export const upcastEvent = (event: CadastreEvent): CadastreEvent => {
  if (!isEventType(event.type)) return event;
  const newest = EVENT_VERSIONS[event.type];
  let { data, schemaVersion } = event as { data: unknown; schemaVersion: number };
  if (schemaVersion > newest) {
    throw new UnreadableRecordError(
      `${event.type} has schema version ${schemaVersion}, and this package reads up to ${newest}. Update it, then retry`,
    );
  }
  for (; schemaVersion < newest; schemaVersion += 1) {
    const added = EVENT_UPCASTS[event.type]?.[schemaVersion];
    if (!added) throw new UnreadableRecordError(`no upcast of ${event.type} from schema version ${schemaVersion}`);
    data = added.reduce(addMembers, data);
  }
  return { ...event, data, schemaVersion } as CadastreEvent;
};

/**
 * Handles each event of the topics once, in the order of its stream. A record that the publisher sent twice is skipped:
 * its version is not above the last one of its stream.
 */
export const handleEvents =
  ({ handlers }: EventOptions): RecordHandler =>
  async (record, { client, storeVersion }) => {
    const event = decodeEvent(record);
    if (!(await storeVersion(event.stream, event.version))) return;
    if (!isEventType(event.type)) return;
    const handler = handlers[event.type] as ((event: CadastreEvent, client: ClientBase) => Promise<void>) | undefined;
    if (handler) await handler(upcastEvent(event), client);
  };
