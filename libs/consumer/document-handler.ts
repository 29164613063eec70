import type { ClientBase } from 'pg';
import { parseValue, readHeaders, UnreadableRecordError } from './cloud-event.js';
import type { RecordHandler } from './transactional-consumer.js';

/** The newest document of a resource, from a state topic. */
export type StateDocument = {
  readonly id: string;
  /** The JSON:API resource as an owner of its organization reads it. Null if the resource was deleted. */
  readonly resource: Readonly<Record<string, unknown>> | null;
  /** The headers as text, without those of CloudEvents. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Stores or deletes a copy. It may get a document that it has had before, never an older one. */
export type DocumentHandler = (document: StateDocument, client: ClientBase, topic: string) => Promise<void>;

/** Handles the documents of state topics, each key in order. */
export const handleDocuments =
  (handle: DocumentHandler): RecordHandler =>
  async (record, { client, topic }) => {
    if (record.key === null) throw new UnreadableRecordError('the record of a state topic has no key');
    const resource = record.value === null ? null : parseValue(record.value);
    if (typeof resource !== 'object') throw new UnreadableRecordError('the document is no object');
    const document = {
      id: record.key.toString(),
      resource: resource as StateDocument['resource'],
      headers: readHeaders(record),
    };
    await handle(document, client, topic);
  };
