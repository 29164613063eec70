import type { AnyEventKind, EventRegistry } from '#platform/kernel';
import { toCloudEventType, toTopicName } from '../topics/cloud-event.js';
import { buildEventSchemas, type JsonSchema } from './schemas.js';

const INFO = {
  title: 'Cadastre events',
  version: '1.0.0',
  description:
    'Every change, as CloudEvents 1.0 in binary content mode. Delivered at least once and in order within a stream.',
};

const HEADERS: JsonSchema = {
  type: 'object',
  description: 'The attributes of a CloudEvent in binary content mode. All values are UTF-8 strings.',
  required: [
    'content-type',
    'ce_specversion',
    'ce_id',
    'ce_type',
    'ce_source',
    'ce_subject',
    'ce_time',
    'ce_stream',
    'ce_version',
    'ce_position',
    'ce_authtype',
    'ce_authid',
  ],
  properties: {
    'content-type': { const: 'application/json' },
    ce_specversion: { const: '1.0' },
    ce_id: {
      type: 'string',
      format: 'uuid',
      description: 'Id of the event and of its audit trail entry. Redelivery repeats it.',
    },
    ce_type: { type: 'string', description: '`cadastre.`, the name of the event, `.v` and the version of its schema.' },
    ce_source: { type: 'string', format: 'uri-reference', description: 'Public URL of the site.' },
    ce_subject: { type: 'string', description: 'Id of the resource that changed.' },
    ce_time: { type: 'string', format: 'date-time', description: 'Time of the event.' },
    ce_organization: {
      type: 'string',
      description: 'Id of the organization. Absent if the event belongs to the site.',
    },
    ce_stream: {
      type: 'string',
      description: 'The stream, which is also the message key. The events of a stream are in order.',
    },
    ce_version: {
      type: 'string',
      pattern: '^[1-9][0-9]*$',
      description:
        'Number of the event in its stream: 1, 2, 3 … without gaps. A number that you have seen is a redelivery.',
    },
    ce_position: {
      type: 'string',
      pattern: '^[0-9]+$',
      description: 'Number of the event in the log: unique, with gaps.',
    },
    ce_authtype: {
      enum: ['user', 'service_account', 'system'],
      description: 'Kind of caller (CloudEvents Auth Context).',
    },
    ce_authid: { type: 'string', description: 'Id of the caller.' },
    ce_impersonator: { type: 'string', description: 'Id of the user that acts as the caller.' },
    ce_request: { type: 'string', description: 'Id of the API request.' },
    ce_correlationid: { type: 'string', description: 'Id that all events of one outside request share.' },
    ce_causationid: { type: 'string', description: '`ce_id` of the event that caused this event.' },
    traceparent: {
      type: 'string',
      description: 'Trace of the request (W3C Trace Context). Absent if the trace was not recorded.',
    },
  },
};

/**
 * A topic that other services write and Cadastre reads, with the schemas of the headers and the data of its messages.
 */
export type InboundChannel = {
  readonly topic: string;
  readonly type: string;
  readonly description: string;
  readonly headers: JsonSchema;
  readonly payload: JsonSchema;
};

/** A topic that Cadastre writes and whose messages are no events of the log. */
export type OutboundChannel = InboundChannel & {
  /** What the key of a message is. */
  readonly key: string;
};

/** A message of a compacted topic: the latest document of a resource, or no value if it does not exist any more. */
export type StateChannelMessage = {
  readonly topic: string;
  /** Name of the kind of resource. */
  readonly name: string;
  readonly type: string;
  readonly description: string;
};

const STATE_HEADERS: JsonSchema = {
  type: 'object',
  description: 'The attributes of a CloudEvent in binary content mode. All values are UTF-8 strings.',
  required: [
    'ce_specversion',
    'ce_id',
    'ce_type',
    'ce_source',
    'ce_subject',
    'ce_organization',
    'ce_schemaversion',
    'ce_position',
  ],
  properties: {
    'content-type': { const: 'application/json', description: 'Absent if the message has no value.' },
    ce_specversion: { const: '1.0' },
    ce_id: {
      type: 'string',
      pattern: '^[0-9a-f]{32}$',
      description: 'Derived from the content. Redelivery repeats it.',
    },
    ce_type: {
      type: 'string',
      description: '`cadastre.state.`, the kind of resource, `.v` and the version of its schema.',
    },
    ce_source: { type: 'string', format: 'uri-reference', description: 'Public URL of the site.' },
    ce_subject: { type: 'string', description: 'Id of the resource, which is also the message key.' },
    ce_organization: { type: 'string', description: 'Id of the organization.' },
    ce_schemaversion: {
      type: 'string',
      pattern: '^[1-9][0-9]*$',
      description: 'Version of the schema of the document.',
    },
    ce_version: {
      type: 'string',
      pattern: '^[1-9][0-9]*$',
      description:
        'Version of the stream of the resource: the document contains exactly the events of the stream up to it. Absent if a resource without a stream of its own was deleted.',
    },
    ce_position: {
      type: 'string',
      pattern: '^[0-9]+$',
      description: 'Position in the log. The document contains the event at this position; it never falls for a key.',
    },
  },
};

/**
 * Returns the AsyncAPI 3.0 document: a channel for each published topic, a message for each event type, and a channel
 * for each topic with other messages.
 */
export const buildAsyncApiDocument = (
  registry: EventRegistry,
  prefix: string,
  inbound: readonly InboundChannel[] = [],
  states: readonly StateChannelMessage[] = [],
  outbound: readonly OutboundChannel[] = [],
) => {
  const payloads = buildEventSchemas(registry);
  const kinds = Object.entries(registry);
  const topics = [...Map.groupBy(kinds, ([, kind]) => kind.topic)];
  const stateTopics = [...Map.groupBy(states, ({ topic }) => topic)];
  const written = [...[...topics, ...stateTopics].map(([topic]) => topic), ...outbound.map(({ topic }) => topic)];
  return {
    asyncapi: '3.0.0',
    info: INFO,
    defaultContentType: 'application/json',
    channels: Object.fromEntries([
      ...topics.map(([topic, members]) => [topic, channel(topic, members, prefix)] as const),
      ...stateTopics.map(([topic, members]) => [topic, stateChannel(topic, members, prefix)] as const),
      ...[...outbound, ...inbound].map((one) => [one.topic, describeOtherChannel(one, prefix)] as const),
    ]),
    operations: Object.fromEntries([
      ...written.map((topic) => [`publish-${topic}`, operation('send', topic)] as const),
      ...inbound.map(({ topic }) => [`receive-${topic}`, operation('receive', topic)] as const),
    ]),
    components: {
      messages: Object.fromEntries([
        ...kinds.map(([type, kind]) => [type, message(type, kind)] as const),
        ...states.map((one) => [toStateName(one), stateMessage(one)] as const),
        ...outbound.map((one) => [one.type, outboundMessage(one)] as const),
        ...inbound.map((one) => [one.type, inboundMessage(one)] as const),
      ]),
      schemas: {
        ...payloads,
        CloudEventHeaders: HEADERS,
        ...(states.length === 0 ? {} : { StateHeaders: STATE_HEADERS }),
      },
    },
  };
};

const channel = (topic: string, members: readonly (readonly [string, AnyEventKind])[], prefix: string) => ({
  address: toTopicName({ topic }, prefix),
  messages: Object.fromEntries(members.map(([type]) => [type, { $ref: `#/components/messages/${type}` }])),
  bindings: { kafka: { topic: toTopicName({ topic }, prefix), bindingVersion: '0.5.0' } },
});

const operation = (action: 'send' | 'receive', topic: string) => ({ action, channel: { $ref: `#/channels/${topic}` } });

const describeOtherChannel = ({ topic, type, description }: InboundChannel, prefix: string) => ({
  address: toTopicName({ topic }, prefix),
  description,
  messages: { [type]: { $ref: `#/components/messages/${type}` } },
  bindings: { kafka: { topic: toTopicName({ topic }, prefix), bindingVersion: '0.5.0' } },
});

const toStateName = ({ name }: StateChannelMessage): string => `state.${name}`;

const stateChannel = (topic: string, members: readonly StateChannelMessage[], prefix: string) => ({
  address: toTopicName({ topic }, prefix),
  description: 'A compacted topic with the latest document of each resource.',
  messages: Object.fromEntries(
    members.map((one) => [toStateName(one), { $ref: `#/components/messages/${toStateName(one)}` }]),
  ),
  bindings: {
    kafka: {
      topic: toTopicName({ topic }, prefix),
      topicConfiguration: { 'cleanup.policy': ['compact'] },
      bindingVersion: '0.5.0',
    },
  },
});

const stateMessage = (one: StateChannelMessage) => ({
  name: toStateName(one),
  title: one.type,
  summary: one.description,
  contentType: 'application/json',
  headers: {
    type: 'object',
    allOf: [{ $ref: '#/components/schemas/StateHeaders' }],
    properties: { ce_type: { const: one.type } },
  },
  payload: {
    type: ['object', 'null'],
    required: ['data'],
    properties: { data: { description: 'The resource, or a list of resources, as openapi.json describes them.' } },
  },
  bindings: { kafka: { key: { type: 'string', description: 'Id of the resource.' }, bindingVersion: '0.5.0' } },
});

const inboundMessage = ({ type, headers, payload }: InboundChannel) => ({
  name: type,
  title: type,
  contentType: 'application/json',
  headers,
  payload,
});

const outboundMessage = (one: OutboundChannel) => ({
  ...inboundMessage(one),
  bindings: { kafka: { key: { type: 'string', description: one.key }, bindingVersion: '0.5.0' } },
});

const message = (type: string, { schemaVersion }: AnyEventKind) => ({
  name: type,
  title: toCloudEventType(type, schemaVersion),
  contentType: 'application/json',
  headers: {
    type: 'object',
    allOf: [{ $ref: '#/components/schemas/CloudEventHeaders' }],
    properties: { ce_type: { const: toCloudEventType(type, schemaVersion) } },
  },
  payload: { $ref: `#/components/schemas/${type}` },
  correlationId: { location: '$message.header#/ce_correlationid' },
  bindings: { kafka: { key: { type: 'string', description: 'The stream.' }, bindingVersion: '0.5.0' } },
});
