import {
  getEventKind,
  upcastEventData,
  type EventRegistry,
  type LogPosition,
  type RecordedEvent,
} from '#platform/kernel';
import type { PersonalDataCipher } from '#storage/personal-data';
import { castRows, type Database, type QueryRunner } from '#platform/postgres';
import {
  selectEventsAfter,
  selectOrganizationEvents,
  selectStreamEvents,
  type EventRow,
  type FilteredEventRow,
  type LogExtent,
  type OrganizationExtent,
} from './log-queries.js';
import { SharedContexts } from './shared-contexts.js';

/** Some events of the log. `length` also counts the events that a filter has left out. */
export type LogPage = { readonly events: readonly RecordedEvent[]; readonly length: number };

type LogReadOptions = {
  readonly extent?: LogExtent['extent'] | undefined;
  readonly only?: LogExtent['only'] | undefined;
  readonly keepEncrypted?: boolean | undefined;
  readonly outside?: boolean | undefined;
};

/** Reads the events of the log in the current versions of their schemas. */
export class LogReader {
  private readonly sharedContexts = new SharedContexts();

  constructor(
    private readonly database: Database,
    private readonly kinds: EventRegistry,
    private readonly personalDataCipher: PersonalDataCipher,
  ) {}

  /** Returns all events of a stream, oldest first. */
  async stream(stream: string): Promise<readonly RecordedEvent[]> {
    const rows = await this.database.rows<EventRow>(selectStreamEvents(stream));
    const events = await this.sharedContexts.complete(rows, (statement) => this.database.rows(statement));
    return this.personalDataCipher.open(events.map((event) => this.upcast(event)));
  }

  /**
   * Returns the next events after a position in the order of the log, at most `limit`: see selectEventsAfter.
   * `keepEncrypted` leaves the texts of people encrypted. `outside` is for readers that publish: they decrypt without
   * cached keys, because published texts cannot be forgotten.
   */
  async read(
    after: LogPosition,
    limit: number,
    run: QueryRunner,
    options: LogReadOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    return (await this.readPage(after, limit, run, options)).events;
  }

  /** Like `read`, with the number of events that the page has without the filter. */
  async readPage(
    after: LogPosition,
    limit: number,
    run: QueryRunner,
    { extent = 'settled', only = null, keepEncrypted = false, outside = false }: LogReadOptions = {},
  ): Promise<LogPage> {
    const page = await this.readEncrypted(after, limit, run, { extent, only });
    if (keepEncrypted) return page;
    const { events, length } = page;
    const cipher = this.personalDataCipher;
    return { events: await (outside ? cipher.open(events, run) : cipher.follow(events, run)), length };
  }

  private async readEncrypted(
    after: LogPosition,
    limit: number,
    run: QueryRunner,
    extent: LogExtent,
  ): Promise<LogPage> {
    const selected = await run(selectEventsAfter(after, limit, extent));
    const filtered = extent.only === null ? null : castRows<FilteredEventRow>(selected);
    const rows = filtered ?? castRows<EventRow>(selected);
    const events = (await this.sharedContexts.complete(rows, run)).map((event) => this.upcast(event));
    this.personalDataCipher.passed(events);
    return { events, length: filtered ? (filtered.at(-1)?.number ?? 0) : rows.length };
  }

  /**
   * Returns the next events of an organization after a position, at most `limit`. Decrypts without cached keys, as for
   * publishing.
   */
  async readOrganization(
    extent: OrganizationExtent,
    after: LogPosition,
    limit: number,
    run: QueryRunner,
  ): Promise<readonly RecordedEvent[]> {
    const rows = castRows<EventRow>(await run(selectOrganizationEvents(extent, after, limit)));
    const events = (await this.sharedContexts.complete(rows, run)).map((event) => this.upcast(event));
    return this.personalDataCipher.open(events, run);
  }

  /** Returns an event with the current version of its schema. */
  upcast<E extends Pick<RecordedEvent, 'type' | 'schemaVersion' | 'data'>>(row: E): E {
    const kind = getEventKind(this.kinds, row.type);
    if (row.schemaVersion === kind.schemaVersion) return row;
    return { ...row, schemaVersion: kind.schemaVersion, data: upcastEventData(kind, row.schemaVersion, row.data) };
  }
}
