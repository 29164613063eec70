import type { Message } from './message.js';
import type { Principal } from './personal-texts.js';

/** ISO 8601 in UTC with milliseconds, ending in `Z`. The database and documents use no other form of time. */
export type Timestamp = string;

/** The resource of another server from which a resource of this site was imported (ADR 139). */
export type ImportOrigin = {
  /** The address of the other server and its organization, such as `https://app.terraform.io/app/acme`. */
  readonly from: string;
  readonly id: string;
  /** When the resource was created there; null if the other server does not say. */
  readonly time: Timestamp | null;
};

/** The caller and the request that led to an event. Stored with every event. */
export type EventContext = {
  readonly accessor: Principal;
  readonly auth: 'Client' | 'Impersonated' | 'System';
  readonly impersonator: string | null;
  readonly request: {
    readonly id: string | null;
    readonly address: string | null;
    readonly userAgent: string | null;
  };
  /**
   * The user that a signed link was made for, if the request used one. Address and user agent of the request then count
   * as personal data of this user.
   */
  readonly linkOf?: string;
  /** Present if an import caused the event. */
  readonly origin?: ImportOrigin;
  /** Id that all events of one external request share. */
  readonly correlation: string;
  /** The id of the event that caused this one if a follower appended it, else null. */
  readonly causation: string | null;
};

/** A position in the log. Readers follow this order and read only below the oldest running transaction. */
export type LogPosition = { readonly transaction: string; readonly position: number };

export type RecordedEvent<E extends Message = Message> = E & {
  /** UUIDv7. The CloudEvent and the audit entry have the same id. */
  readonly id: string;
  /** The id of the resource that the stream belongs to, for example `ws-…`. */
  readonly stream: string;
  /** 1, 2, 3 … within the stream, without gaps. */
  readonly version: number;
  readonly schemaVersion: number;
  /** External id (`org-…`) of the organization that the event belongs to; null for events of the site. */
  readonly organization: string | null;
  readonly time: Timestamp;
  readonly context: EventContext;
  /** The span that appended the event, as a `traceparent`. Null if no trace was recorded. */
  readonly traceparent?: string | null;
} & LogPosition;

/**
 * Returns when a resource was created: at the other server if it was imported. The other server chooses this time, so that it is
 * only shown: rules, retention and comparisons use the time of the log, which the audit trail and topics have too.
 */
export const getOriginalTime = ({ context, time }: Pick<RecordedEvent, 'context' | 'time'>): Timestamp =>
  context.origin?.time ?? time;
