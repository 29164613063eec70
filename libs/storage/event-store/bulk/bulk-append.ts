import {
  projectEvents,
  shareJson,
  sql,
  type EventContext,
  type Ids,
  type RecordedEvent,
  type Sql,
} from '#platform/kernel';
import type { EncryptedEvents } from '#storage/personal-data';
import type { DatabaseSession } from '#platform/postgres';
import { ClientContexts, STORED_CONTEXT } from '../client-contexts.js';
import type { EventStore } from '../event-store.js';
import { recordEvents, type StreamWrite } from '../writes.js';

/** A write to one stream by one caller. `times` are those of its events. */
export type BulkWrite = Omit<StreamWrite, 'expected'> & {
  /** The version that the stream must have; 0 for a new stream. */
  readonly expected: number;
  readonly context: EventContext;
  readonly times: readonly string[];
};

/**
 * Appends to many streams with the inline views, in one transaction and a few statements: for events that a program
 * creates by the thousand. The events get into the log in the order of their times. Each stream may occur once. As with
 * `append`, everything is committed when this resolves, and nothing if it rejects. `session` must have run the
 * registration of writers.
 */
export const appendInBulk = async (
  store: EventStore,
  session: DatabaseSession,
  ids: Ids,
  writes: readonly BulkWrite[],
): Promise<void> => {
  const recorded = writes
    .flatMap((write) => recordEvents(store.kinds, ids, write, write.context, (index) => write.times[index] as string))
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  const encrypted = await store.personalDataCipher.encrypt(recorded, {
    createdPeople: new Set(),
    referencedPeople: [...new Set(writes.flatMap(({ snapshot }) => snapshot?.people ?? []))],
    writers: [...new Set(writes.map(({ context }) => context.accessor.id))],
  });
  await session.pipeline(buildStatements(store, writes, encrypted)).then(
    () => encrypted.ended(),
    (error: unknown) => {
      encrypted.ended(error);
      throw error;
    },
  );
  store.signal.notify();
};

const buildStatements = (
  store: EventStore,
  writes: readonly BulkWrite[],
  { guards, keys, readableEvents, eventsToStore }: EncryptedEvents<RecordedEvent>,
): readonly Sql[] => {
  const streams = writes.map(({ stream }) => stream).toSorted();
  return [
    ...guards,
    // All locks come first and in one order, for the same reasons as in buildStreamLocks.
    sql`select count(pg_advisory_xact_lock(event_store.lock_of(stream))) from unnest(${streams}::text[]) stream`,
    ...buildStreamWrites(writes),
    ...splitByType(eventsToStore).map(insertEvents),
    ...store.projections.flatMap((projection) => projectEvents(projection, readableEvents)),
    ...keys,
  ];
};

/** Splits events into runs of one type. */
const splitByType = (events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] => {
  const runs: RecordedEvent[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.[0]?.type === event.type) run.push(event);
    else runs.push([event]);
  }
  return runs;
};

const insertEvents = (events: readonly RecordedEvent[]): Sql => {
  const [{ type, schemaVersion }] = events as readonly [RecordedEvent];
  const data = shareJson(events.map((event) => event.data as object));
  const numbers = new ClientContexts();
  const clients = events.map(({ context }) => ({ context, ...numbers.find(context) }));
  const contexts = clients.filter(({ isNew }) => isNew).map(({ context }) => sql.json(context));
  const pick = <K extends keyof RecordedEvent>(key: K) => events.map((event) => event[key]);
  return sql`
    with clients as materialized (
      select context, event_store.share_context(context) as shared, ordinal - 1 as client
        from unnest(${contexts}::jsonb[]) with ordinality as c (context, ordinal))
    insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context,
                                    shared_context, request)
    select id, stream, version, ${type}, ${schemaVersion}::integer, organization, time, ${data.shared}::jsonb || data,
           ${STORED_CONTEXT}
      from rows from (
             unnest(${pick('id')}::uuid[], ${pick('stream')}::text[], ${pick('version')}::bigint[],
                    ${pick('organization')}::text[], ${pick('time')}::timestamptz[],
                    ${clients.map(({ client }) => client)}::integer[],
                    ${clients.map(({ request }) => request)}::text[]),
             jsonb_array_elements(${data.own}::jsonb))
           with ordinality as rows (id, stream, version, organization, time, client, request, data, ordinal)
      join clients using (client)
     order by ordinal`;
};

/** Inserts the new streams and advances the others. Raises CA409 if one of them has another version. */
const buildStreamWrites = (writes: readonly BulkWrite[]): readonly Sql[] => {
  const newStreams = writes.filter(({ expected }) => expected === 0);
  const otherStreams = writes.filter(({ expected }) => expected > 0);
  return [
    ...(newStreams.length === 0
      ? []
      : [
          raiseUnlessAll(
            newStreams,
            (rows) => sql`
            insert into event_store.streams (stream, version, decider, state)
            select stream, version, decider, state from ${rows} on conflict (stream) do nothing returning 1`,
          ),
        ]),
    ...(otherStreams.length === 0
      ? []
      : [
          raiseUnlessAll(
            otherStreams,
            (rows) => sql`
            update event_store.streams s set version = rows.version, decider = rows.decider, state = rows.state
              from ${rows} where s.stream = rows.stream and s.version = rows.expected returning 1`,
          ),
        ]),
  ];
};

const raiseUnlessAll = (writes: readonly BulkWrite[], change: (rows: Sql) => Sql): Sql => {
  const states = shareJson(writes.map(({ snapshot }) => (snapshot?.state ?? {}) as object));
  const expected = writes.map((write) => write.expected);
  const versions = writes.map((write) => write.expected + write.events.length);
  const deciders = writes.map(({ snapshot }) => snapshot?.decider ?? null);
  const rows = sql`(
    select stream, expected, version, decider,
           case when decider is not null then ${states.shared}::jsonb || state end as state
      from rows from (
             unnest(${writes.map(({ stream }) => stream)}::text[], ${expected}::bigint[], ${versions}::bigint[],
                    ${deciders}::integer[]),
             jsonb_array_elements(${states.own}::jsonb))
           as rows (stream, expected, version, decider, state)) rows`;
  return sql`
    with changed as (${change(rows)})
    select event_store.stale_when((select count(*) from changed) <> ${writes.length})`;
};
