import { sql, type LogPosition, type RecordedEvent, type Sql } from '#kernel';
import type { DatabaseRow } from '#postgres';

export type EventRow = RecordedEvent & DatabaseRow;

const EVENT_COLUMNS = sql.raw(`transaction::text as transaction, position, id, stream, version, type,
  schema_version as "schemaVersion", organization, time, data, context`);

/** Everything that happened to one stream, oldest first. */
export const selectStreamEvents = (stream: string): Sql =>
  sql`select ${EVENT_COLUMNS} from event_store.events where stream = ${stream} order by version`;

export type LogExtent = {
  /**
   * Only events that no transaction still running can precede: none is missed, none comes twice. `committed` gives what
   * lies beyond a running transaction too: for a reader with one snapshot, or one that keeps writers out.
   */
  readonly extent: 'settled' | 'committed';
  /** Events of these types, and the last that was looked at, whatever its type: it says how far that was. */
  readonly only: readonly string[] | null;
};

/**
 * The next events after a position in log order, at most `limit`. Ordered by `e.transaction`: without the `e.` it would be
 * the text that is selected under that name, and transaction 1000 would come before 999.
 */
export const selectEventsAfter = (after: LogPosition, limit: number, { extent, only }: LogExtent): Sql => {
  const settled = sql`transaction < pg_snapshot_xmin(pg_current_snapshot())`;
  const next = (columns: Sql): Sql => sql`
    select ${columns} from event_store.events e
     where (transaction, position) > (${after.transaction}::xid8, ${after.position}::bigint)
       and ${extent === 'settled' ? settled : sql`true`}
     order by e.transaction, e.position limit ${limit}`;
  return only === null
    ? next(EVENT_COLUMNS)
    : sql`
      select ${EVENT_COLUMNS} from (
        select *, lead(position) over (order by e.transaction, e.position) is null as is_last
          from (${next(sql.raw('e.*'))}) e) e
       where type = any (${only}::text[]) or is_last
       order by e.transaction, e.position`;
};
