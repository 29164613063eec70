import type { HistoryRule } from './history-rules.js';
import type { LiveRule } from './live-rules.js';
import type { NotificationRule } from './notification-rules.js';
import type { DataOf, Message } from './message.js';
import type { PersonalText } from './personal-texts.js';
import type { RecordedEvent } from './recorded-event.js';

/** The part of a zod schema that the kernel needs. The kernel imports no library. */
export type EventDataSchema<T> = { parse(data: unknown): T };

/** How an event appears in audit trails. `id` is the audited resource, by default the stream. */
export type AuditMapping<Data> = {
  readonly resource: string | ((data: Data) => string);
  readonly action: string | ((data: Data) => string);
  readonly id?: (data: Data, event: RecordedEvent) => string;
  readonly meta?: (data: Data, event: RecordedEvent) => Readonly<Record<string, unknown>> | null;
  /**
   * When the audit trail of the site records the event. `without-organization`: if the event belongs to no organization.
   * `always`: also if it belongs to one, because site administrators manage the resource. Absent: never, because each
   * such event belongs to an organization.
   */
  readonly site?: 'always' | 'without-organization';
  /**
   * Returns the ids of the organizations whose audit trails record an event that belongs to no organization, such as a
   * sign-in of a member. Without it, only the trail of the event's own organization records an event.
   */
  readonly organizations?: (data: Data) => readonly string[];
  /** Whether the server has done it in the course of its own work, so that no audit trail records it. Absent: never. */
  readonly isInternal?: (data: Data, event: Pick<RecordedEvent, 'context'>) => boolean;
  /**
   * Returns an id that replaces the id of a caller that the organization must not identify; null for every other
   * caller.
   */
  readonly hiddenActor?: (data: Data, event: RecordedEvent) => string | null;
};

/**
 * Returns the id of the event's organization: `id` of events that audit trails record as changes of their organization,
 * because the catalogue of the audit trail has no resource for what they change.
 */
export const getAuditedOrganization = (
  _: unknown,
  { organization, stream }: Pick<RecordedEvent, 'organization' | 'stream'>,
): string => organization ?? stream;

/** Returns how audit trails record the event; null if none does. */
export const findAuditMapping = (
  { audit }: Pick<AnyEventKind, 'audit'>,
  event: Pick<RecordedEvent, 'context' | 'data'>,
): AuditMapping<never> | null =>
  'unaudited' in audit || audit.isInternal?.(event.data as never, event) ? null : audit;

export const describeAuditEvent = <Data>(
  { resource, action }: AuditMapping<Data>,
  data: Data,
): { type: string; action: string } => ({
  type: typeof resource === 'string' ? resource : resource(data),
  action: typeof action === 'string' ? action : action(data),
});

/** Ids in the data of an event. Paths are `createdBy.id`, and `workspaces[]` for each element of a list. */
type EventIds = {
  /** Fields with an id of a resource of the organization, or of a person, and the prefixes that it may have. */
  readonly refersTo?: Readonly<Record<string, readonly string[]>>;
  /** Fields with the id of a resource that the event creates and that need not have a stream, and its prefix. */
  readonly creates?: Readonly<Record<string, string>>;
};

/** Everything about an event type (`defineEvents`). */
export type EventKind<Data = unknown> = {
  /**
   * Raise it when the shape of the data changes. `upcast[n]` then says what version n lacks, which an old event gets
   * when it is read.
   */
  readonly schemaVersion: number;
  readonly schema: EventDataSchema<Data>;
  /** Suffix of the Kafka topic. The configured prefix precedes it. */
  readonly topic: string;
  /**
   * The prefix of the id of its stream. `reads`, `facts` and `workload-tokens` are streams whose ids contain the id of the
   * organization or of one of its resources.
   */
  readonly stream: string;
  readonly audit: AuditMapping<Data> | { readonly unaudited: string };
  readonly live: LiveRule;
  /** What the event adds to the history of resources. Absent: nothing. */
  readonly history?: HistoryRule<Data>;
  /** What the event notifies about. Absent: nothing. */
  readonly notifies?: (data: Data) => NotificationRule | null;
  readonly ids: EventIds;
  /** Why no import of an organization may bring the event. Absent: an import may, with ids of the export alone. */
  readonly notImported?: string;
  readonly upcast?: EventUpcast;
  /**
   * Returns the personal texts of the data. It runs on the plain event and on the encrypted one, so the result must not
   * depend on the content of these texts. It may depend on whether two of them are equal. `upcast` must not change
   * these texts.
   */
  readonly personal?: (data: Data, event: Pick<RecordedEvent, 'stream' | 'context'>) => readonly PersonalText[];
  /**
   * Returns the id of the person that the event forgets. Their key is deleted with the append, which makes their texts
   * unreadable in all events.
   */
  readonly forgets?: (data: Data, event: Pick<RecordedEvent, 'stream'>) => string;
};

/**
 * Members that data of the version before lacks, with the values that they have there. They are added to the data, or to
 * its member `to`: a member that is null stays null, and a missing one is created.
 */
export type AddedMembers = { readonly to?: string; readonly add: Readonly<Record<string, unknown>> };

/**
 * For each schema version before the present one: what the next version added. Empty if old data satisfies the next
 * version. The consumer package gets the same values, because topics keep messages of all versions.
 */
export type EventUpcast = Readonly<Record<number, readonly AddedMembers[]>>;

export type EventKinds<E extends Message> = { readonly [T in E['type']]: EventKind<DataOf<E, T>> };

/** An event kind whose type of data is unknown to the compiler. */
export type AnyEventKind = Omit<EventKind<never>, 'schema'> & { readonly schema: EventDataSchema<unknown> };

export type EventRegistry = Readonly<Record<string, AnyEventKind>>;

/** Throws for a type that no module of this build has. */
export const getEventKind = (registry: EventRegistry, type: string): AnyEventKind => {
  const kind = registry[type];
  if (!kind) throw new Error(`unknown event type ${type}`);
  return kind;
};

/** Returns the types of the events whose definition matches. */
export const listEventTypes = (registry: EventRegistry, matches: (kind: AnyEventKind) => boolean): readonly string[] =>
  Object.keys(registry).filter((type) => matches(getEventKind(registry, type)));

/** Converts data of an older schema version to the current one, one version at a time. */
export const upcastEventData = (
  kind: Pick<EventKind, 'schemaVersion' | 'upcast'>,
  schemaVersion: number,
  data: unknown,
): unknown => {
  let currentData = data;
  for (let version = schemaVersion; version < kind.schemaVersion; version += 1) {
    const upcast = kind.upcast?.[version];
    if (!upcast) throw new Error(`no upcast from schema version ${version} to ${version + 1}`);
    currentData = upcast.reduce(addMembers, currentData);
  }
  return currentData;
};

const addMembers = (data: unknown, { to, add }: AddedMembers): unknown => {
  const values = data as Readonly<Record<string, unknown>>;
  if (to === undefined) return { ...values, ...add, ...values };
  const member = values[to] as Readonly<Record<string, unknown>> | null | undefined;
  return member === null ? values : { ...values, [to]: { ...member, ...add, ...member } };
};
