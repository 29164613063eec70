import { sql, type Clock } from '#platform/kernel';
import type { CloudEventSource, MessageSender } from '#storage/message-log';
import { castRows, type QueryRunner } from '#platform/postgres';
import { createOwner } from './owner.js';
import type { ReadCause } from './affected-keys.js';
import type { PublishedResource } from './published-resource.js';
import { computeDigest, toStateMessage, type ResourceState } from './state-message.js';
import { stateTopicMetrics } from './state-topics.metrics.js';
import {
  addVersions,
  deleteDocuments,
  selectStoredDocuments,
  selectVersions,
  storeDocuments,
  type PublishedDocument,
  type StoredDocumentRow,
  type StreamVersionRow,
} from './state-topics.queries.js';

/** Documents that are read by one statement, and published together. */
const CHUNK = 200;

type DueDocument = ReadCause & { readonly key: string; readonly stored: StoredDocumentRow | undefined };

/** The row of a document: version of its stream, and the transaction before which it contains all events. */
type ReadState = { readonly version: number | null; readonly completeBefore: string };

type ReadDocuments = {
  readonly states: readonly (ResourceState & PublishedDocument)[];
  readonly missing: readonly DueDocument[];
};

/** A document that contains the events of later transactions was read after the event. */
const isDue = (cause: ReadCause, stored: StoredDocumentRow | undefined): boolean =>
  !stored?.completeBefore || cause.transaction === null || BigInt(cause.transaction) >= BigInt(stored.completeBefore);

const toReadState = (row: Readonly<Record<string, unknown>>): ReadState => ({
  version: row['streamVersion'] as number | null,
  completeBefore: row['completeBefore'] as string,
});

const omitState = (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const { streamVersion: _, completeBefore: __, ...own } = row;
  return own;
};

const toStored = (state: ResourceState & PublishedDocument): PublishedDocument => {
  const { document: _, version: __, ...stored } = state;
  return stored;
};

/** Reads documents of one kind, and publishes those that have changed. */
export class DocumentPublication {
  constructor(
    private readonly resource: PublishedResource,
    private readonly sender: Pick<MessageSender, 'send'>,
    private readonly origin: Pick<CloudEventSource, 'source' | 'prefix'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Publishes the documents with these keys, in steps. What is published is stored after each step, so that an
   * interrupted publication continues there.
   */
  async publish(causes: ReadonlyMap<string, ReadCause>, run: QueryRunner): Promise<void> {
    const all = [...causes];
    for (let from = 0; from < all.length; from += CHUNK) await this.publishChunk(all.slice(from, from + CHUNK), run);
  }

  private async publishChunk(causes: readonly (readonly [string, ReadCause])[], run: QueryRunner): Promise<void> {
    const due = await this.listDue(causes, run);
    if (due.length === 0) return;
    const { states, missing } = await this.read(due, run);
    const digests = new Map(due.map(({ key, stored }) => [key, stored?.digest ?? null]));
    const changed = states.filter(({ key, digest }) => digests.get(key) !== digest);
    const deletions = await this.toDeletions(missing, run);
    const messages = [...changed, ...deletions].map((state) =>
      toStateMessage(this.resource, state, this.origin, this.clock.now()),
    );
    if (messages.length > 0) await this.sender.send(messages, async () => void (await run(sql`select`)));
    const documents = states.map(toStored);
    if (documents.length > 0) await run(storeDocuments(this.resource.type, documents));
    const deleted = deletions.map(({ key }) => key);
    if (deleted.length > 0) await run(deleteDocuments(this.resource.type, deleted));
    this.count(changed.length, deletions.length, states.length - changed.length);
  }

  private count(documents: number, deletions: number, unchanged: number): void {
    const { topic } = this.resource;
    stateTopicMetrics.messages.inc({ topic, kind: 'document' }, documents);
    stateTopicMetrics.messages.inc({ topic, kind: 'deletion' }, deletions);
    stateTopicMetrics.unchanged.inc({ topic }, unchanged);
  }

  private async listDue(
    causes: readonly (readonly [string, ReadCause])[],
    run: QueryRunner,
  ): Promise<readonly DueDocument[]> {
    const keys = causes.map(([key]) => key);
    const rows = castRows<StoredDocumentRow>(await run(selectStoredDocuments(this.resource.type, keys)));
    const storedByKey = new Map(rows.map((row) => [row.key, row]));
    return causes
      .map(([key, cause]) => ({ ...cause, key, stored: storedByKey.get(key) }))
      .filter((document) => isDue(document, document.stored));
  }

  private async read(due: readonly DueDocument[], run: QueryRunner): Promise<ReadDocuments> {
    const owner = createOwner([...new Set(due.map(({ organization }) => organization))]);
    const documents = this.resource.select(sql`${due.map(({ key }) => key)}::text[]`, owner);
    const rows = await run(addVersions(documents.query, this.resource.streamColumn));
    const readStates = new Map(rows.map((row) => [row['id'], toReadState(row)]));
    const all = await documents.render(rows.map(omitState));
    const rendered = new Map(all.map(({ key, document }) => [key, document]));
    const states = due.flatMap(({ key, organization, position, stored }) => {
      const document = rendered.get(key);
      const state = readStates.get(key);
      if (!document || !state) return [];
      const digest = computeDigest(document, state.version);
      return [{ key, organization, document, ...state, digest, position: Math.max(position, stored?.position ?? 0) }];
    });
    return { states, missing: due.filter(({ key }) => !rendered.has(key)) };
  }

  /** A deletion is published even if no document is known: a topic can be older than what is stored about it. */
  private async toDeletions(missing: readonly DueDocument[], run: QueryRunner): Promise<readonly ResourceState[]> {
    if (missing.length === 0) return [];
    const rows = castRows<StreamVersionRow>(await run(selectVersions(missing.map(({ key }) => key))));
    const versions = new Map(rows.map(({ stream, version }) => [stream, version]));
    return missing.map(({ key, organization, position, stored }) => ({
      key,
      organization: stored?.organization ?? organization,
      version: versions.get(key) ?? null,
      position: Math.max(position, stored?.position ?? 0),
      document: null,
    }));
  }
}
