import type { EventContext, EventKind, RecordedEvent } from '#kernel';

/** Which Cadastre speaks, and under what names its topics go. */
export type CloudEventSource = {
  /**
   * `ce_source`: the site's public URL. CloudEvents wants source + id to be unique and recommends an absolute URI
   * (spec.md, "source"); the URL is the one name of a site that operators keep and consumers already know. It must not
   * change with a restart: never a pod's or a port's name.
   */
  readonly source: string;
  /** `${prefix}.${kind.topic}` is the topic. */
  readonly prefix: string;
};

/** A Kafka message as text; the client encodes it as UTF-8, as the binding demands of headers (§3.2.3). */
export type OutboundMessage = {
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since 1970: when the event happened, not when it was published. */
  readonly timestamp: string;
};

export const toTopicName = (kind: Pick<EventKind<never>, 'topic'>, prefix: string): string => `${prefix}.${kind.topic}`;

/** The outside name of an event type in one version of its schema, for example `cadastre.WorkspaceLocked.v1`. */
export const toCloudEventType = (type: string, schemaVersion: number): string => `cadastre.${type}.v${schemaVersion}`;

/**
 * CloudEvents 1.0 over Kafka in binary content mode:
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md#32-binary-content-mode
 * The event store lifts old events when it reads them, so type and data always tell of the same schema version.
 */
export const toKafkaMessage = (
  event: RecordedEvent,
  kind: EventKind<never>,
  { source, prefix }: CloudEventSource,
): OutboundMessage => ({
  topic: toTopicName(kind, prefix),
  // §3.1: the producer chooses the key. One stream, one key, one partition: hence order within the stream.
  key: event.stream,
  // §3.2.2: the value is the data and nothing else.
  value: JSON.stringify(event.data),
  headers: {
    // §3.2.1: datacontenttype travels as `content-type`, the only attribute without the prefix of §3.2.3.1.
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: toCloudEventType(event.type, event.schemaVersion),
    ce_source: source,
    ce_subject: event.stream,
    ce_time: event.time,
    ce_stream: event.stream,
    // Extensions are strings here: CloudEvents' own Integer ends at 2^31 - 1 (spec.md, "Type System"), a log does not.
    ce_version: String(event.version),
    ce_position: String(event.position),
    ...omitNullHeader('ce_organization', event.organization),
    ...toAuthContextHeaders(event.context),
  },
  timestamp: String(Date.parse(event.time)),
});

/**
 * Who did it, under the names of the documented extensions (extensions/authcontext.md, extensions/correlation.md).
 * The caller’s name, address and user agent stay behind: topics are kept for ever, and the audit trail has them.
 */
const toAuthContextHeaders = (context: EventContext): Readonly<Record<string, string>> => ({
  ce_authtype: authType(context),
  ce_authid: context.accessor.id,
  ...omitNullHeader('ce_impersonator', context.impersonator),
  ...omitNullHeader('ce_request', context.request.id),
  ...omitNullHeader('ce_correlationid', context.correlation),
  ...omitNullHeader('ce_causationid', context.causation),
});

const authType = ({ auth, accessor }: EventContext): string => {
  if (auth === 'System') return 'system';
  return accessor.type === 'users' ? 'user' : 'service_account';
};

/** An attribute without a value is left out: CloudEvents knows no null, and a string must not be empty. */
const omitNullHeader = (name: string, value: string | null): Readonly<Record<string, string>> =>
  value ? { [name]: value } : {};
