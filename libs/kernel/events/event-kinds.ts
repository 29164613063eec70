import type { DataOf, Message } from './message.js';
import type { PersonalText } from './personal-texts.js';
import type { RecordedEvent } from './recorded-event.js';

/** What we need of a zod schema: the kernel imports nothing. */
export type EventDataSchema<T> = { parse(data: unknown): T };

/** How an event appears in the audit trail (contract §6). `id` is the audited resource, by default the stream. */
export type AuditMapping<Data> = {
  readonly resource: string | ((data: Data) => string);
  readonly action: string | ((data: Data) => string);
  readonly id?: (data: Data, event: RecordedEvent) => string;
  readonly meta?: (data: Data, event: RecordedEvent) => Readonly<Record<string, unknown>> | null;
  /** The id that stands for a caller whom the organization must not identify; null for every other caller. */
  readonly hiddenActor?: (data: Data, event: RecordedEvent) => string | null;
};

/** Of which kind of resource an entry is, and what it says was done. */
export const describeAuditEvent = <Data>(
  { resource, action }: AuditMapping<Data>,
  data: Data,
): { type: string; action: string } => ({
  type: typeof resource === 'string' ? resource : resource(data),
  action: typeof action === 'string' ? action : action(data),
});

/**
 * What is known of one event type besides its data: where it goes and how it is told. Every event type of a slice has
 * an entry, by the compiler: none can be forgotten in the schemas, the topics or the audit catalogue.
 */
export type EventKind<Data = unknown> = {
  /** Raised when the data's shape changes; `upcast[n]` then lifts version n to n + 1 when an old event is read. */
  readonly schemaVersion: number;
  readonly schema: EventDataSchema<Data>;
  /** Suffix of the Kafka topic, after the prefix. */
  readonly topic: string;
  readonly audit: AuditMapping<Data> | { readonly unaudited: string };
  readonly upcast?: Readonly<Record<number, (data: unknown) => unknown>>;
  /**
   * Which of its texts are people's. Asked of the event as it is and as it is sealed, so it must not depend on these texts,
   * but on whether two are the same; neither must `upcast` change them.
   */
  readonly personal?: (data: Data, event: Pick<RecordedEvent, 'stream' | 'context'>) => readonly PersonalText[];
  /** Whom it forgets: with the event goes the key to all their texts, in whichever events those are. */
  readonly forgets?: (data: Data, event: Pick<RecordedEvent, 'stream'>) => string;
};

export type EventKinds<E extends Message> = { readonly [T in E['type']]: EventKind<DataOf<E, T>> };

/** The kinds of every slice, by event type. */
export type EventRegistry = Readonly<Record<string, EventKind<never>>>;

/** Lifts data of an older schema version to today's shape, one version at a time. */
export const upcastEventData = (kind: EventKind<never>, schemaVersion: number, data: unknown): unknown => {
  let lifted = data;
  for (let version = schemaVersion; version < kind.schemaVersion; version += 1) {
    const lift = kind.upcast?.[version];
    if (!lift) throw new Error(`no upcast from schema version ${version} to ${version + 1}`);
    lifted = lift(lifted);
  }
  return lifted;
};
