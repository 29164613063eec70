import type { ClientBase } from 'pg';
import { parseValue, readHeaders, UnreadableRecordError, type TopicRecord } from './cloud-event.js';
import { DOCUMENT_VERSIONS } from './event-types.js';
import type { RecordHandler } from './record-handler.js';

/** A JSON:API resource, as the API renders it for an owner of its organization. */
export type DocumentResource = {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, unknown>>;
};

/** The latest document of a resource, from a state topic. */
export type StateDocument = {
  readonly id: string;
  /** Kind of resource, such as `workspaces`. A topic can have several. */
  readonly kind: string;
  /** Version of the shape of the document, from 1. */
  readonly schemaVersion: number;
  /** Id of the organization. */
  readonly organization: string;
  /** Number of an event in the log of the site. The document has what happened up to it. */
  readonly position: bigint;
  /** Null if the resource was deleted. A list, such as of tag bindings, is the `data` of its document. */
  readonly resource: DocumentResource | readonly unknown[] | null;
};

/** Stores or deletes a copy. It may get a document that it has had before, never an older one. */
export type DocumentHandler = (document: StateDocument, client: ClientBase) => Promise<void>;

const TYPE = /^cadastre\.state\.([a-z-]+)\.v([1-9]\d*)$/;

/**
 * Decodes a record of a state topic. Throws UnreadableRecordError for any other record, and for a kind or a schema version
 * that this package does not know.
 */
export const decodeDocument = (record: TopicRecord): StateDocument => {
  const { ce_type: type = '', ce_organization: organization, ce_position: position } = readHeaders(record);
  const [, kind, version] = TYPE.exec(type) ?? [];
  if (kind === undefined || record.key === null || !organization || !/^\d+$/.test(position ?? '')) {
    throw new UnreadableRecordError('the record is not from a state topic of Cadastre');
  }
  return {
    id: record.key.toString(),
    kind,
    schemaVersion: readSchemaVersion(kind, Number(version)),
    organization,
    position: BigInt(position ?? 0),
    resource: record.value === null ? null : readData(parseValue(record.value)),
  };
};

const readSchemaVersion = (kind: string, version: number): number => {
  const newest = Object.hasOwn(DOCUMENT_VERSIONS, kind) ? DOCUMENT_VERSIONS[kind] : undefined;
  if (newest === undefined)
    throw new UnreadableRecordError(`this package reads no documents of ${kind}. Update it, then retry`);
  if (version <= newest) return version;
  throw new UnreadableRecordError(
    `the document of ${kind} has schema version ${version}, and this package reads up to ${newest}. Update it, then retry`,
  );
};

const readData = (document: unknown): DocumentResource | readonly unknown[] => {
  const { data } = (document ?? {}) as { readonly data?: unknown };
  if (typeof data === 'object' && data !== null) return data as DocumentResource | readonly unknown[];
  throw new UnreadableRecordError('the document has no data');
};

/** Handles the documents of state topics, each key in order. */
export const handleDocuments =
  (handle: DocumentHandler): RecordHandler =>
  (record, { client }) =>
    handle(decodeDocument(record), client);
