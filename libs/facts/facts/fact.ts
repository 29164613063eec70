import type { EventContext, Message, Timestamp } from '#kernel';

/**
 * A fact: an entry for the trail that another service is answerable for, because Cadastre does not own what it is about.
 * It names itself, by the service and an id there, and is recorded once, however often and by whichever way it comes.
 */
export type Fact = {
  /** The service. */
  readonly source: string;
  /** Its own name for the fact. */
  readonly id: string;
  /** When it happened; the trail has a time of its own, that of the recording. */
  readonly time: Timestamp;
  readonly auth: {
    readonly accessor_id: string;
    readonly description: string;
    readonly type: EventContext['auth'];
    readonly impersonator_id: string | null;
  };
  readonly request: { readonly id: string | null };
  readonly resource: AuditedResource;
};

export type AuditedResource = {
  readonly id: string;
  readonly type: string;
  readonly action: string;
  readonly meta: Readonly<Record<string, unknown>> | null;
};

/** Who handed it in: the caller, or the topic that it stood in. */
export type Reporter = { readonly type: string; readonly id: string };

export type FactEvent = Message<
  'AuditFactReported',
  {
    source: string;
    /** Its id there. */
    fact: string;
    occurredAt: Timestamp;
    resource: AuditedResource;
    reportedBy: Reporter;
  }
>;

export const createFactEvent = ({ source, id, time, resource }: Fact, reportedBy: Reporter): FactEvent => ({
  type: 'AuditFactReported',
  data: { source, fact: id, occurredAt: time, resource, reportedBy },
});

/** The facts that one service tells one organization, in the order in which they came. */
export const toFactStream = (organization: string, source: string): string => `facts/${organization}/${source}`;

/** Who did it, there, as for any event; who reported it is told by the event's data. */
export const createFactContext = ({ auth, request }: Fact): EventContext => ({
  accessor: {
    id: auth.accessor_id,
    // Which kind of somebody a service means it does not say; whom we know can be forgotten, whatever it says (ADR 25).
    type: auth.type === 'System' && !auth.accessor_id.startsWith('user-') ? 'system' : 'users',
    name: auth.description,
  },
  auth: auth.type,
  impersonator: auth.impersonator_id,
  request: { id: request.id, address: null, userAgent: null },
  correlation: request.id ?? '',
  causation: null,
});
