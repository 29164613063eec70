import type { LogPosition } from '#platform/kernel';
import { formatPartName, type BackupArchive, type BackupControl, type BackupPart } from '#operations/backup';
import { LOG_START, toPosition, type EventStore, type ImportedEvent } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';
import {
  eventPartHead,
  formatEvent,
  parseEvent,
  type OrganizationSnapshot,
} from '../format/organization-export.manifest.js';
import { PeopleCollector } from './people.collector.js';

export const EVENTS_IN_PART = 2_000;
const FOLDER = 'events';

/**
 * Writes the events of an organization to an export, in the order of the log, with readable texts of people. Events never
 * change, so another process can continue it.
 */
export class EventsExport {
  readonly people = new PeopleCollector();
  private readonly parts: BackupPart[] = [];
  private readonly versions = new Map<string, number>();
  private last: LogPosition = LOG_START;
  private count = 0;

  constructor(
    private readonly store: EventStore,
    private readonly session: DatabaseSession,
    private readonly archive: BackupArchive,
    private readonly snapshot: OrganizationSnapshot,
    private readonly control: BackupControl,
    private readonly eventsInPart = EVENTS_IN_PART,
  ) {}

  async run(): Promise<readonly BackupPart[]> {
    await this.resume();
    while (await this.writeNext());
    if (this.count !== this.snapshot.events) {
      throw new Error(`the snapshot has ${this.snapshot.events} events, but ${this.count} were read`);
    }
    return this.parts;
  }

  /** Reads the parts that an interrupted export has written. */
  private async resume(): Promise<void> {
    for await (const { part, lines } of this.archive.readWrittenParts(FOLDER, this.control.signal)) {
      const [head = '', ...events] = lines;
      this.last = eventPartHead.parse(JSON.parse(head));
      this.add(part, events.map(parseEvent));
    }
  }

  private async writeNext(): Promise<boolean> {
    this.control.signal?.throwIfAborted();
    const { organization, visible } = this.snapshot;
    const extent = { organization: organization.id, visible };
    const events = await this.store.log.readOrganization(extent, this.last, this.eventsInPart, (statement) =>
      this.session.run(statement),
    );
    const last = events.at(-1);
    if (!last) return false;
    this.last = toPosition(last);
    const lines = [JSON.stringify(this.last), ...events.map(formatEvent)];
    this.add(await this.archive.putLines(formatPartName(FOLDER, this.parts.length + 1), lines), events);
    return true;
  }

  private add(part: BackupPart, events: readonly ImportedEvent[]): void {
    for (const event of events) this.requireNextVersion(event);
    this.people.add(events);
    this.parts.push(part);
    this.count += events.length;
    this.control.report?.('events', this.count, this.snapshot.events);
  }

  /** A stream belongs to one organization with all its events. The other site relies on it. */
  private requireNextVersion({ stream, version }: ImportedEvent): void {
    const expected = (this.versions.get(stream) ?? 0) + 1;
    if (version !== expected) throw new Error(`the stream ${stream} has the version ${version} after ${expected - 1}`);
    this.versions.set(stream, version);
  }
}
