import type { EventContext, AnyEventKind, RecordedEvent } from '#platform/kernel';

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
  /** `binary`: attributes are headers, and the value is the data. `structured`: the value is one JSON document. */
  readonly mode: 'binary' | 'structured';
};

/** A Kafka message with text values. The client encodes them as UTF-8, as the binding requires for headers (§3.2.3). */
export type OutboundMessage = {
  readonly topic: string;
  readonly key: string;
  /** Null deletes the key from a compacted topic. */
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since 1970: the time of the event, not of its publication. */
  readonly timestamp: string;
};

/** A message about an event. It always has a value. */
type EventMessage = OutboundMessage & { readonly value: string };

export const toTopicName = (kind: Pick<AnyEventKind, 'topic'>, prefix: string): string => `${prefix}.${kind.topic}`;

/** Returns the public name of an event type with its schema version, for example `cadastre.WorkspaceLocked.v1`. */
export const toCloudEventType = (type: string, schemaVersion: number): string => `cadastre.${type}.v${schemaVersion}`;

const JSON_TYPE = 'application/json';

/**
 * Returns an event as a CloudEvents 1.0 message:
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md
 *
 * The event store upcasts old events when it reads them, so type and data always have the same schema version.
 */
export const toKafkaMessage = (
  event: RecordedEvent,
  kind: AnyEventKind,
  { source, prefix, mode }: CloudEventSource,
): EventMessage => ({
  topic: toTopicName(kind, prefix),
  // §3.1: the producer chooses the key. All events of a stream have one key and so one partition, which keeps their
  // order.
  key: event.stream,
  ...(mode === 'binary' ? toBinaryContent(event, source) : toStructuredContent(event, source)),
  timestamp: String(Date.parse(event.time)),
});

type MessageContent = Pick<OutboundMessage, 'headers'> & { readonly value: string };

/** §3.2. The value is only the data (§3.2.2). */
const toBinaryContent = (event: RecordedEvent, source: string): MessageContent => {
  // §3.2.1: datacontenttype is sent as `content-type`, the only attribute without the prefix of §3.2.3.1.
  const headers: Record<string, string> = { 'content-type': JSON_TYPE };
  for (const { header, read } of ATTRIBUTES) addPresent(headers, header, read(event, source));
  addPresent(headers, 'traceparent', event.traceparent);
  return { value: JSON.stringify(event.data), headers };
};

/** §3.3. The value is the event in the JSON format. */
const toStructuredContent = (event: RecordedEvent, source: string): MessageContent => {
  const attributes: Record<string, string> = {};
  for (const { name, read } of ATTRIBUTES) addPresent(attributes, name, read(event, source));
  const headers: Record<string, string> = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };
  // As OpenTelemetry passes on the context of a message: https://opentelemetry.io/docs/specs/semconv/messaging
  addPresent(headers, 'traceparent', event.traceparent);
  return { value: JSON.stringify({ ...attributes, datacontenttype: JSON_TYPE, data: event.data }), headers };
};

/** Leaves out a text that is missing: CloudEvents has no null, and a string must not be empty. */
const addPresent = (texts: Record<string, string>, name: string, text: string | null | undefined): void => {
  if (text) texts[name] = text;
};

type ReadAttribute = (event: RecordedEvent, source: string) => string | null;

const authType = ({ auth, accessor }: EventContext): string => {
  if (auth === 'System') return 'system';
  return accessor.type === 'users' ? 'user' : 'service_account';
};

/**
 * The attributes of an event. Those of the caller are as in the documented extensions (extensions/authcontext.md,
 * extensions/correlation.md). The caller’s name, address and user agent are left out: topics are kept for ever, and the
 * audit trail contains them.
 *
 * Numbers are sent as strings: a CloudEvents Integer ends at 2^31 - 1 (spec.md, "Type System"), which a log can exceed.
 */
const ATTRIBUTE_READERS: Readonly<Record<string, ReadAttribute>> = {
  specversion: () => '1.0',
  id: ({ id }) => id,
  type: ({ type, schemaVersion }) => toCloudEventType(type, schemaVersion),
  source: (_event, source) => source,
  subject: ({ stream }) => stream,
  time: ({ time }) => time,
  stream: ({ stream }) => stream,
  version: ({ version }) => String(version),
  position: ({ position }) => String(position),
  organization: ({ organization }) => organization,
  authtype: ({ context }) => authType(context),
  authid: ({ context }) => context.accessor.id,
  impersonator: ({ context }) => context.impersonator,
  request: ({ context }) => context.request.id,
  correlationid: ({ context }) => context.correlation,
  causationid: ({ context }) => context.causation,
};

/** Made once: a header's name of its own for each message was a tenth of the publisher's CPU time. */
const ATTRIBUTES = Object.entries(ATTRIBUTE_READERS).map(([name, read]) => ({ name, header: `ce_${name}`, read }));
