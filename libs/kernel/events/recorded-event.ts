import type { Message } from './message.js';
import type { Principal } from './personal-texts.js';

/** ISO 8601, UTC, milliseconds, ending in `Z`: the only form of time that leaves the database or enters a document. */
export type Timestamp = string;

/** Who did it and how it reached us; stored beside every event (contract §2.5, DESIGN decision 2). */
export type EventContext = {
  readonly accessor: Principal;
  readonly auth: 'Client' | 'Impersonated' | 'System';
  readonly impersonator: string | null;
  readonly request: {
    readonly id: string | null;
    readonly address: string | null;
    readonly userAgent: string | null;
  };
  /** The user to whom the signed link was given that somebody came with: address and program are as good as theirs. */
  readonly linkOf?: string;
  /** Joins everything that one outside request led to. */
  readonly correlation: string;
  /** The id of the event that caused this one, where a follower acted on it. */
  readonly causation: string | null;
};

/** A place in the log. Readers go in this order, and only below the oldest transaction still running. */
export type LogPosition = { readonly transaction: string; readonly position: number };

/** An event as the log holds it. */
export type RecordedEvent<E extends Message = Message> = E & {
  /** UUIDv7; also the CloudEvent's id and the trail entry's. */
  readonly id: string;
  /** The id of the resource whose stream it is, for example `ws-…`. */
  readonly stream: string;
  /** 1, 2, 3 … within the stream, without gaps. */
  readonly version: number;
  readonly schemaVersion: number;
  /** External id (`org-…`) of the organization it belongs to, null for what belongs to the site. */
  readonly organization: string | null;
  readonly time: Timestamp;
  readonly context: EventContext;
} & LogPosition;
