import type { EventContext, EventKind, RecordedEvent } from '#kernel';

/** The `source` attribute of this site, and the prefix of its topics. */
export type CloudEventSource = {
  /**
   * `ce_source`: the site's public URL. CloudEvents requires that source + id is unique and recommends an absolute URI
   * (spec.md, "source"). The URL is a stable name that consumers already know. It must not change with a restart, so it
   * is never the name of a pod or a port.
   */
  readonly source: string;
  /** A topic's name is `${prefix}.${kind.topic}`. */
  readonly prefix: string;
};

/** A Kafka message with text values. The client encodes them as UTF-8, as the binding requires for headers (§3.2.3). */
export type OutboundMessage = {
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since 1970: the time of the event, not of its publication. */
  readonly timestamp: string;
};

export const toTopicName = (kind: Pick<EventKind<never>, 'topic'>, prefix: string): string => `${prefix}.${kind.topic}`;

/** Returns the public name of an event type with its schema version, for example `cadastre.WorkspaceLocked.v1`. */
export const toCloudEventType = (type: string, schemaVersion: number): string => `cadastre.${type}.v${schemaVersion}`;

/**
 * Returns an event as a CloudEvents 1.0 message in binary content mode:
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md#32-binary-content-mode
 *
 * The event store upcasts old events when it reads them, so type and data always have the same schema version.
 */
export const toKafkaMessage = (
  event: RecordedEvent,
  kind: EventKind<never>,
  { source, prefix }: CloudEventSource,
): OutboundMessage => ({
  topic: toTopicName(kind, prefix),
  // §3.1: the producer chooses the key. All events of a stream have one key and so one partition, which keeps their
  // order.
  key: event.stream,
  // §3.2.2: the value is only the data.
  value: JSON.stringify(event.data),
  headers: {
    // §3.2.1: datacontenttype is sent as `content-type`, the only attribute without the prefix of §3.2.3.1.
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: toCloudEventType(event.type, event.schemaVersion),
    ce_source: source,
    ce_subject: event.stream,
    ce_time: event.time,
    ce_stream: event.stream,
    // Numbers are sent as strings: a CloudEvents Integer ends at 2^31 - 1 (spec.md, "Type System"), which a log can
    // exceed.
    ce_version: String(event.version),
    ce_position: String(event.position),
    ...omitNullHeader('ce_organization', event.organization),
    ...toAuthContextHeaders(event.context),
    // As OpenTelemetry passes on the context of a message: https://opentelemetry.io/docs/specs/semconv/messaging
    ...omitNullHeader('traceparent', event.traceparent ?? null),
  },
  timestamp: String(Date.parse(event.time)),
});

/**
 * Returns the headers that describe the caller, as in the documented extensions (extensions/authcontext.md,
 * extensions/correlation.md). The caller’s name, address and user agent are left out: topics are kept for ever, and the
 * audit trail contains them.
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

/** Leaves out an attribute without a value: CloudEvents has no null, and a string must not be empty. */
const omitNullHeader = (name: string, value: string | null): Readonly<Record<string, string>> =>
  value ? { [name]: value } : {};
