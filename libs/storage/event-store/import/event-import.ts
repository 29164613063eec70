import { sql, type EventContext, type RecordedEvent, type Sql } from '#platform/kernel';
import type { ImportedTexts } from '#storage/personal-data';
import type { DatabaseSession } from '#platform/postgres';
import { ClientContexts, STORED_CONTEXT } from '../client-contexts.js';
import type { EventStore } from '../event-store.js';
import { ViewCopy } from '../rebuild/view-copy.js';
import type { RebuildableView, ReplayHandler } from '../rebuild/views.js';

/** An event as another site recorded it, without its position and trace there. Its texts are readable. */
export type ImportedEvent = Omit<RecordedEvent, 'transaction' | 'position' | 'traceparent'>;

/** An id that the log contains already. */
export type ImportCollision = { readonly kind: 'stream' | 'event'; readonly id: string };

const STAGING = sql.raw(`
  create temporary table imported_events (
    ordinal bigint generated always as identity primary key, id uuid, stream text, version bigint, type text,
    schema_version integer, organization text, time timestamptz, data jsonb, client integer, request text)`);
const STAGED_CONTEXTS = sql.raw('create temporary table imported_contexts (client integer primary key, context jsonb)');

/**
 * Imports new streams with the events of another site: ids, versions, times and contexts stay, and the events follow the
 * last event of the log. `add` stores them in temporary tables of the session, and computes the inline views of these
 * events alone. `commit` then copies both in one transaction. So the transaction is short, an interrupted import changes
 * nothing, and events can never change a row of another organization.
 */
export class EventImport {
  private readonly clients = new ClientContexts();

  private constructor(
    private readonly store: EventStore,
    private readonly session: DatabaseSession,
    private readonly views: readonly RebuildableView[],
    private readonly texts: ImportedTexts,
  ) {}

  /** `session` belongs to this import until the session ends. `views` are all views of the site. */
  static async begin(
    store: EventStore,
    session: DatabaseSession,
    views: readonly RebuildableView[],
    forgotten: ReadonlySet<string>,
  ): Promise<EventImport> {
    const inlineViews = views.filter(({ follower }) => follower === null);
    const { writerRegistration } = store.database;
    if (writerRegistration) await session.run(writerRegistration);
    await session.pipeline([STAGING, STAGED_CONTEXTS]);
    for (const view of inlineViews) await ViewCopy.create(session, view, 'pg_temp');
    return new EventImport(store, session, inlineViews, store.personalDataCipher.createImport(forgotten));
  }

  /** Adds the next events, in the order of the log of the other site. */
  async add(events: readonly ImportedEvent[]): Promise<void> {
    const recorded = events.map((event): RecordedEvent => ({ ...event, transaction: '0', position: 0 }));
    const { readableEvents, eventsToStore } = await this.texts.encrypt(recorded);
    const handlers: ReplayHandler[] = this.views.map((view) => view.createReplay('any'));
    const projections: Sql[] = [];
    for (const handle of handlers) projections.push(...(await handle(readableEvents, this.session, this.store)));
    await this.session.pipeline([...this.stage(eventsToStore), ...projections]);
  }

  /** Returns an id of the import that the log contains already; null if there is none. */
  async findCollision(): Promise<ImportCollision | null> {
    const [collision] = await this.session.run<ImportCollision>(sql`
      (select 'stream' as kind, stream as id from pg_temp.imported_events join event_store.streams s using (stream) limit 1)
      union all
      (select 'event' as kind, i.id::text as id from pg_temp.imported_events i join event_store.events e using (id) limit 1)
      limit 1`);
    return collision ?? null;
  }

  /** Returns the version of each of these streams after the events that were added. */
  async readVersions(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.session.run<{ stream: string; version: number }>(sql`
      select stream, max(version) as version from pg_temp.imported_events
       where stream = any (${streams}::text[]) group by stream`);
    return new Map(rows.map(({ stream, version }) => [stream, version]));
  }

  /** Appends everything in one transaction. `also` are statements that run in it after the views are written. */
  async commit(also: readonly Sql[]): Promise<void> {
    await this.session.pipeline([
      ...this.texts.buildGuards(),
      INSERT_EVENTS,
      INSERT_STREAMS,
      ...this.texts.buildKeyInserts(),
      ...this.views.flatMap(({ tables }) => tables.map(copyRows)),
      ...also,
    ]);
    this.store.signal.notify();
  }

  private stage(events: readonly RecordedEvent[]): readonly Sql[] {
    const contexts: { client: number; context: EventContext }[] = [];
    const rows = events.map(({ context, ...event }) => {
      const { client, isNew, request } = this.clients.find(context);
      if (isNew) contexts.push({ client, context });
      return { ...event, client, request };
    });
    return [
      sql.unkept(sql`
        insert into pg_temp.imported_contexts (client, context)
        select client, context from jsonb_to_recordset(${sql.json(contexts)}::jsonb) as list (client integer, context jsonb)`),
      sql.unkept(sql`
        insert into pg_temp.imported_events (id, stream, version, type, schema_version, organization, time, data, client, request)
        select id, stream, version, type, "schemaVersion", organization, time, data, client, request
          from jsonb_array_elements(${sql.json(rows)}::jsonb) with ordinality as list (row, ordinal),
               jsonb_to_record(row) as e (id uuid, stream text, version bigint, type text, "schemaVersion" integer,
                                          organization text, time timestamptz, data jsonb, client integer, request text)
         order by ordinal`),
    ];
  }
}

const INSERT_EVENTS = sql`
  with clients as materialized (
    select client, context, event_store.share_context(context) as shared from pg_temp.imported_contexts)
  insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context,
                                  shared_context, request)
  select id, stream, version, type, schema_version, organization, time, data,
         ${STORED_CONTEXT}
    from pg_temp.imported_events join clients using (client)
   order by ordinal`;

/** Streams without snapshots: the first decision on a stream folds its events. */
const INSERT_STREAMS = sql`
  insert into event_store.streams (stream, version)
  select stream, max(version) from pg_temp.imported_events group by stream`;

const copyRows = (table: string): Sql => sql.raw(`insert into views.${table} select * from pg_temp.${table}`);
