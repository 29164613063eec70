import type { AuditMapping, EventDataSchema, EventKind } from './event-kinds.js';
import type { Message } from './message.js';
import type { ChangeWord, LiveRule, SentRule, UnsentRule } from './live-rules.js';

/** Returns the rule for live messages about the resource of a group of events. */
export type LiveResource = (word: ChangeWord) => SentRule;

/** What the events of a group have in common. The definition of an event can override it. */
type EventGroup<Live extends LiveResource | UnsentRule> = Pick<EventKind, 'topic' | 'stream' | 'notImported'> & {
  /** The resource in audit trails. */
  readonly audited?: string;
  /** The resource of live messages, or why there are none. */
  readonly live: Live;
};

type Audit<Data> =
  | (Omit<AuditMapping<Data>, 'resource'> & Partial<Pick<AuditMapping<Data>, 'resource'>>)
  | { readonly unaudited: string };

type EventDefinition<Data, Live> = Pick<
  EventKind<Data>,
  'upcast' | 'history' | 'notifies' | 'personal' | 'forgets' | 'notImported'
> &
  Partial<Pick<EventKind<Data>, 'topic' | 'ids'>> & {
    readonly schema: EventDataSchema<Data>;
    /** 1 by default. */
    readonly schemaVersion?: number;
    readonly audit: Audit<Data>;
  } & (Live extends UnsentRule ? { readonly live?: LiveRule } : { readonly live: ChangeWord | LiveRule });

type DeepReadonly<T> = T extends readonly (infer Element)[]
  ? readonly DeepReadonly<Element>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The union of the events that `defineEvents` has defined. */
export type EventsOf<Kinds> = {
  readonly [T in keyof Kinds & string]: Kinds[T] extends EventKind<infer Data> ? Message<T, Data> : never;
}[keyof Kinds & string];

type DefinedEvents<Events> = { readonly [T in keyof Events]: EventKind<DeepReadonly<Events[T]>> };

/**
 * Defines the events of a resource (ADR 80). Each definition has the schema of the data and everything that the server does
 * with the event. The type of the data is inferred from the schema.
 */
export const defineEvents = <Live extends LiveResource | UnsentRule, Events extends object>(
  group: EventGroup<Live>,
  definitions: { readonly [T in keyof Events]: EventDefinition<Events[T], Live> },
): DefinedEvents<Events> => {
  const entries: readonly (readonly [string, AnyDefinition])[] = Object.entries(definitions);
  return Object.fromEntries(
    entries.map(([type, definition]) => [type, toEventKind(type, group, definition)]),
  ) as unknown as DefinedEvents<Events>;
};

type AnyDefinition = EventDefinition<never, UnsentRule> & { readonly live?: ChangeWord | LiveRule };

const toEventKind = (
  type: string,
  { audited, live: groupLive, ...common }: EventGroup<LiveResource | UnsentRule>,
  { audit, live, ...own }: AnyDefinition,
): EventKind<never> => ({
  schemaVersion: 1,
  ids: {},
  ...common,
  ...own,
  audit: 'unaudited' in audit ? audit : { ...audit, resource: audit.resource ?? requireAudited(type, audited) },
  live: toLiveRule(groupLive, live),
});

const requireAudited = (type: string, audited: string | undefined): string => {
  if (audited === undefined) throw new Error(`the event ${type} names no resource for the audit trail`);
  return audited;
};

const toLiveRule = (groupLive: LiveResource | UnsentRule, live: ChangeWord | LiveRule | undefined): LiveRule => {
  if (typeof live === 'object') return live;
  if (typeof groupLive === 'object') return groupLive;
  return groupLive(live as ChangeWord);
};
