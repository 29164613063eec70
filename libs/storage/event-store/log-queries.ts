import { sql, type EventContext, type LogPosition, type RecordedEvent, type Sql } from '#platform/kernel';
import type { DatabaseRow } from '#platform/postgres';

/** An event whose context may be stored apart from it: see SharedContexts. */
export type EventRow = Omit<RecordedEvent, 'context' | 'traceparent'> & {
  readonly traceparent: string | null;
  readonly context: EventContext | null;
  readonly sharedContext: number | null;
  readonly request: string | null;
} & DatabaseRow;

/**
 * Returns the expression for the context of the event `e`. Most contexts are stored once for all requests of a client
 * (007_event_contexts.sql). Readers of many events use SharedContexts instead, which costs less for each event.
 */
export const EVENT_CONTEXT = sql.raw(`case when e.shared_context is null then e.context else (
  select shared.context || jsonb_build_object('correlation', e.request, 'causation', null,
                             'request', (shared.context -> 'request') || jsonb_build_object('id', e.request))
    from event_store.contexts shared where shared.id = e.shared_context) end`);

const EVENT_COLUMNS = sql`transaction::text as transaction, position, id, stream, version, type,
  schema_version as "schemaVersion", organization, time, data, context, shared_context as "sharedContext", request, traceparent`;

/** Selects all events of a stream, oldest first. */
export const selectStreamEvents = (stream: string): Sql =>
  sql`select ${EVENT_COLUMNS} from event_store.events e where stream = ${stream} order by version`;

/** The events of an organization that are visible in a snapshot, as Postgres writes a pg_snapshot. */
export type OrganizationExtent = { readonly organization: string; readonly visible: string };

/** Selects the next events of an organization in the order of the log, at most `limit`. */
export const selectOrganizationEvents = (
  { organization, visible }: OrganizationExtent,
  after: LogPosition,
  limit: number,
): Sql => sql`
  select ${EVENT_COLUMNS} from event_store.events e
   where (transaction, position) > (${after.transaction}::xid8, ${after.position}::bigint)
     and pg_visible_in_snapshot(transaction, ${visible}::pg_snapshot) and organization = ${organization}
   order by e.transaction, e.position limit ${limit}`;

/**
 * The condition that no running transaction can precede an event, so that a reader in the order of the log neither misses
 * an event nor gets one twice.
 */
export const IS_SETTLED = sql.raw('transaction < pg_snapshot_xmin(pg_current_snapshot())');

/** An event of a filtered page, with its number among all events of the page. */
export type FilteredEventRow = EventRow & { readonly number: number };

export type LogExtent = {
  /**
   * `settled`: only events that no running transaction can precede (IS_SETTLED). `committed`: also later events, for a
   * reader with one snapshot or with a lock against writers.
   */
  readonly extent: 'settled' | 'committed';
  /**
   * Types of the events to select. The last event of the range is included whatever its type, because it shows the
   * position that was reached.
   */
  readonly only: readonly string[] | null;
};

/**
 * Selects the next events after a position in the order of the log, at most `limit`. Rows are FilteredEventRow if `only`
 * is set, and EventRow otherwise. Orders by `e.transaction`, because
 * `transaction` alone would be the selected text, and transaction 1000 would precede 999.
 */
export const selectEventsAfter = (after: LogPosition, limit: number, { extent, only }: LogExtent): Sql => {
  const next = (columns: Sql): Sql => sql`
    select ${columns} from event_store.events e
     where (transaction, position) > (${after.transaction}::xid8, ${after.position}::bigint)
       and ${extent === 'settled' ? IS_SETTLED : sql`true`}
     order by e.transaction, e.position limit ${limit}`;
  return only === null
    ? next(EVENT_COLUMNS)
    : sql`
      select ${EVENT_COLUMNS}, number from (
        select *, row_number() over (order by e.transaction, e.position) as number,
               lead(position) over (order by e.transaction, e.position) is null as is_last
          from (${next(sql.raw('e.*'))}) e) e
       where type = any (${only}::text[]) or is_last
       order by e.transaction, e.position`;
};
