import { createHash } from 'node:crypto';
import type { Document } from '#api/json-api';
import { toTopicName, type CloudEventSource, type OutboundMessage } from '#storage/message-log';
import type { PublishedResource } from './published-resource.js';

/** The state of a resource that a message describes. */
export type ResourceState = {
  readonly key: string;
  readonly organization: string;
  /** Version of the stream; null if it is not known, for a deleted resource without a stream of its own. */
  readonly version: number | null;
  readonly position: number;
  /** Null if the resource does not exist any more. */
  readonly document: Document | null;
};

type ResourceKind = Pick<PublishedResource, 'type' | 'topic' | 'schemaVersion'>;

const hash = (...texts: readonly string[]): string => createHash('sha256').update(texts.join('\n')).digest('hex');

/** Returns the SHA-256 of a document and of the version of its stream. */
export const computeDigest = (document: Document, version: number | null): string =>
  hash(JSON.stringify(document), String(version));

/** Returns the `ce_type` of messages of a state topic, for example `cadastre.state.workspaces.v1`. */
export const toStateType = ({ type, schemaVersion }: Pick<ResourceKind, 'type' | 'schemaVersion'>): string =>
  `cadastre.state.${type}.v${schemaVersion}`;

/** The same document has the same id. A deletion is identified by its position. */
const computeId = ({ type }: ResourceKind, { key, version, position, document }: ResourceState): string =>
  hash(type, key, document === null ? `deleted at ${position}` : computeDigest(document, version)).slice(0, 32);

/**
 * Returns a message for a compacted topic: the document, or no value if the resource does not exist any more. The headers
 * are those of a CloudEvent in binary mode. Structured mode would have no message without a value.
 */
export const toStateMessage = (
  resource: ResourceKind,
  state: ResourceState,
  { source, prefix }: Pick<CloudEventSource, 'source' | 'prefix'>,
  now: Date,
): OutboundMessage => ({
  topic: toTopicName(resource, prefix),
  key: state.key,
  value: state.document === null ? null : JSON.stringify(state.document),
  headers: {
    ...(state.document === null ? {} : { 'content-type': 'application/json' }),
    ce_specversion: '1.0',
    ce_id: computeId(resource, state),
    ce_type: toStateType(resource),
    ce_source: source,
    ce_subject: state.key,
    ce_organization: state.organization,
    ce_schemaversion: String(resource.schemaVersion),
    ...(state.version === null ? {} : { ce_version: String(state.version) }),
    ce_position: String(state.position),
  },
  timestamp: String(now.getTime()),
});
