import type { EventContext, Message, Timestamp } from '#platform/kernel';

/**
 * An entry for the audit trail that another service is responsible for, because Cadastre does not own the resource. The
 * source and its id identify a fact, which is recorded once, however often and by whichever channel it arrives.
 */
export type Fact = {
  readonly source: string;
  readonly id: string;
  /** Time at which the fact happened. The audit trail shows the time of the recording instead. */
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

/** The caller that reported the fact, or the topic that contained it. */
export type Reporter = { readonly type: string; readonly id: string };

export type FactEvent = Message<
  'AuditFactReported',
  {
    source: string;
    /** Id of the fact at the source. */
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

/** Returns the name of the stream of facts that one service reports to one organization, in order of arrival. */
export const toFactStream = (organization: string, source: string): string => `facts/${organization}/${source}`;

/** Returns the context of a fact: who acted at the service, as for any event. The event's data names the reporter. */
export const createFactContext = ({ auth, request }: Fact): EventContext => ({
  accessor: {
    id: auth.accessor_id,
    // Facts do not state the kind of accessor. Ids of users are always treated as persons, so that they can be
    // forgotten (ADR 25).
    type: auth.type === 'System' && !auth.accessor_id.startsWith('user-') ? 'system' : 'users',
    name: auth.description,
  },
  auth: auth.type,
  impersonator: auth.impersonator_id,
  request: { id: request.id, address: null, userAgent: null },
  correlation: request.id ?? '',
  causation: null,
});
