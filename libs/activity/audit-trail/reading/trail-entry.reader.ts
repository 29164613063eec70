import { Inject, Injectable } from '@nestjs/common';
import { Clock, notFound } from '#platform/kernel';
import { EventStore } from '#storage/event-store';
import type { Actor } from '#api/access';
import { toCloudEventType, toTopicName } from '#storage/message-log';
import { toTrailEntry } from '../writing/stored-entry.js';
import { ENTRY_VISIBILITY, renderEntry, type EntryVisibility } from '../writing/trail-entry.js';
import { findEntry, listRelatedEntries, type EntryWithEvent } from './trail-entry.queries.js';
import { waitForTrail } from '../wait-for-trail.queries.js';

/** The prefix of the names of Kafka topics; null if the server publishes to no Kafka. */
export const TRAIL_TOPIC_PREFIX = Symbol('TRAIL_TOPIC_PREFIX');

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reads one entry with everything that the server knows about it. */
@Injectable()
export class TrailEntryReader {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    @Inject(ENTRY_VISIBILITY) private readonly visibility: EntryVisibility,
    @Inject(TRAIL_TOPIC_PREFIX) private readonly topicPrefix: string | null,
  ) {}

  /** Returns the entry, its event, and the other entries of its request. Throws not-found. */
  async read(organization: string, id: string, actor: Actor): Promise<unknown> {
    if (!UUID.test(id)) throw notFound();
    await waitForTrail(this.store, organization);
    const row = await findEntry(this.store.database, actor, { organization, id, now: this.clock.now() });
    if (!row) throw notFound();
    const rows = [row, ...(await listRelatedEntries(this.store.database, row))];
    const [data, ...related] = await this.store.personalDataCipher.openIn(rows.map(toTrailEntry));
    if (!data) throw notFound();
    return {
      data: renderEntry(data, this.visibility),
      event: this.describeEvent(row),
      related: related.map((entry) => renderEntry(entry, this.visibility)),
    };
  }

  /** Describes the event with the words of its message in Kafka, which has the current version of the schema. */
  private describeEvent(row: EntryWithEvent) {
    const kind = this.store.kinds[row.eventType];
    return {
      type: toCloudEventType(row.eventType, kind?.schemaVersion ?? row.schemaVersion),
      time: row.time,
      stream: row.stream,
      version: row.version,
      transaction: row.transaction,
      position: row.position,
      correlation_id: row.correlation,
      causation_id: row.causation,
      topic: kind && this.topicPrefix !== null ? toTopicName(kind, this.topicPrefix) : null,
    };
  }
}
