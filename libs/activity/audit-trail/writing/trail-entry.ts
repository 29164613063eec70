import {
  describeAuditEvent,
  type AuditMapping,
  type EventContext,
  type RecordedEvent,
  type Timestamp,
} from '#platform/kernel';

/** One entry of an audit trail, as stored and as returned. */
export type TrailEntry = {
  /** Id of the event and of the CloudEvent. */
  readonly id: string;
  /** Version of this schema. A string, because a number breaks decoders of existing clients. */
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
    /**
     * Address and user agent of the client; null if the request did not come over the network or did not contain them.
     */
    readonly address: string | null;
    readonly user_agent: string | null;
  };
  readonly resource: {
    readonly id: string;
    readonly type: string;
    readonly action: string;
    /** Null or an object, never a string. */
    readonly meta: Readonly<Record<string, unknown>> | null;
  };
};

/**
 * An event with the audit trail that records it: the id of the organization, or SITE_TRAIL. Only these events can have
 * entries.
 */
export type TrailScopedEvent = RecordedEvent & { readonly organization: string };

/**
 * Creates the entry of an event in one audit trail. The timestamp is that of the audit trail, not of the
 * event (see trail.ts).
 */
export const createEntry = (event: TrailScopedEvent, row: AuditMapping<never>, timestamp: Timestamp): TrailEntry => {
  // Safe, because the registry finds the mapping by the type of the event.
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

/** Removes the name and the network address of an actor that the organization must not identify. */
const toEntryActor = (
  { context: { accessor, request } }: TrailScopedEvent,
  hidden: string | null,
): Pick<EventContext, 'accessor' | 'request'> =>
  hidden === null
    ? { accessor, request }
    : {
        accessor: { ...accessor, id: hidden, name: hidden },
        request: { id: request.id, address: null, userAgent: null },
      };

/** Whether entries show address and user agent: `CADASTRE_AUDIT_CLIENT_DETAILS`. */
export type EntryVisibility = { readonly clientDetails: boolean };
export const ENTRY_VISIBILITY = Symbol('ENTRY_VISIBILITY');

/**
 * Renders an entry for readers. Entries are stored completely, so that a changed setting also applies to old ones. A detail
 * that is null stays, because the leaf of the entry contains it as it is, without a commitment.
 */
export const renderEntry = (entry: TrailEntry, { clientDetails }: EntryVisibility): unknown =>
  clientDetails ? entry : { ...entry, request: hideClientDetails(entry.request) };

const hideClientDetails = ({ address, user_agent, ...others }: TrailEntry['request']): object => ({
  ...others,
  ...(address === null ? { address } : {}),
  ...(user_agent === null ? { user_agent } : {}),
});
