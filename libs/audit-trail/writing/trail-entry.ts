import { describeAuditEvent, type AuditMapping, type EventContext, type RecordedEvent, type Timestamp } from '#kernel';

/** One entry of a trail, as it is stored and as it is answered (contract §2.5). */
export type TrailEntry = {
  /** The event's id, and the CloudEvent's. */
  readonly id: string;
  /** Of this schema. A string: a number breaks the decoders of clients in use (clients.md §1). */
  readonly version: '0';
  readonly type: 'Resource';
  readonly timestamp: Timestamp;
  readonly auth: {
    readonly accessor_id: string;
    readonly description: string;
    readonly type: 'Client' | 'Impersonated' | 'System';
    readonly impersonator_id: string | null;
    readonly organization_id: string;
  };
  readonly request: {
    readonly id: string | null;
    /** The client's, null where nobody has asked over the network, or it did not say. */
    readonly address: string | null;
    readonly user_agent: string | null;
  };
  readonly resource: {
    readonly id: string;
    readonly type: string;
    readonly action: string;
    /** Null or an object, never a string (clients.md §6). */
    readonly meta: Readonly<Record<string, unknown>> | null;
  };
};

/** An event that belongs to an organization; only these have a place in a trail. */
export type OrganizationScopedEvent = RecordedEvent & { readonly organization: string };

/** How an event is told in its organization's trail. The timestamp is the trail's, not the event's: see trail.ts. */
export const createEntry = (
  event: OrganizationScopedEvent,
  row: AuditMapping<never>,
  timestamp: Timestamp,
): TrailEntry => {
  // The registry looks rows up by the event's type, so this is the data that the row was written for.
  const data = event.data as never;
  const { auth, impersonator } = event.context;
  const { accessor, request } = toEntryActor(event, row.hiddenActor?.(data, event) ?? null);
  return {
    id: event.id,
    version: '0',
    type: 'Resource',
    timestamp,
    auth: {
      accessor_id: accessor.id,
      description: accessor.name,
      type: auth,
      impersonator_id: impersonator,
      organization_id: event.organization,
    },
    request: { id: request.id, address: request.address, user_agent: request.userAgent },
    resource: {
      id: row.id?.(data, event) ?? event.stream,
      ...describeAuditEvent(row, data),
      meta: row.meta?.(data, event) ?? null,
    },
  };
};

/** A hidden caller has neither a name nor an address. */
const toEntryActor = (
  { context: { accessor, request } }: OrganizationScopedEvent,
  hidden: string | null,
): Pick<EventContext, 'accessor' | 'request'> =>
  hidden === null
    ? { accessor, request }
    : {
        accessor: { ...accessor, id: hidden, name: hidden },
        request: { id: request.id, address: null, userAgent: null },
      };

/** Whether entries tell where a request came from: `CADASTRE_AUDIT_CLIENT_DETAILS`. */
export type EntryVisibility = { readonly clientDetails: boolean };
export const ENTRY_VISIBILITY = Symbol('SHOWING');

/** What readers get of an entry. They are stored whole, so that a changed setting counts for old ones, too. */
export const renderEntry = (entry: TrailEntry, { clientDetails }: EntryVisibility): unknown =>
  clientDetails ? entry : { ...entry, request: { id: entry.request.id } };
