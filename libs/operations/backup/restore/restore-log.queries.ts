import { sql, type LogPosition, type Sql } from '#platform/kernel';

const toJsonArray = (lines: readonly string[]): string => `[${lines.join(',')}]`;

/** Inserts rows that were written by row_to_json. Names come from a list in the code, and columns from the backup. */
export const insertRows = (table: string, columns: readonly string[], lines: readonly string[]): Sql => {
  const names = sql.raw(columns.map((column) => `"${column}"`).join(', '));
  return sql.unkept(sql`
    insert into ${sql.raw(table)} (${names}) overriding system value
    select ${names} from jsonb_populate_recordset(null::${sql.raw(table)}, ${toJsonArray(lines)}::jsonb)`);
};

/**
 * Inserts events, which must be in the order of the log. Transaction ids of the old database mean nothing in the new
 * one, so events get new ids: the lowest ones that keep the order. Positions stay. The id therefore rises only where a
 * position is lower than the previous one, which means that two transactions ran at the same time. The parameter is the
 * position of the last restored event.
 */
export const insertEvents = (lines: readonly string[], { transaction, position }: LogPosition): Sql =>
  sql.unkept(sql`
    with restored as (
           select e.*, row_number() over (order by e.transaction, e.position) as ordinal
             from jsonb_populate_recordset(null::event_store.events, ${toJsonArray(lines)}::jsonb) e),
         inversions as (
           select r.*, r.position < coalesce(lag(r.position) over (order by ordinal), ${position}::bigint) as inverted
             from restored r),
         numbered as (
           select i.*, ${transaction}::bigint + count(*) filter (where inverted) over (order by ordinal) as number
             from inversions i)
    insert into event_store.events (transaction, position, id, stream, version, type, schema_version, organization, time,
                                    data, context, shared_context, request, traceparent)
    overriding system value
    select number::text::xid8, position, id, stream, version, type, schema_version, organization, time, data, context,
           shared_context, request, traceparent
      from numbered order by ordinal`);

/** Streams without snapshots: the first decision on a stream folds its events. */
export const insertStreams = (): Sql => sql`
  insert into event_store.streams (stream, version)
  select stream, max(version) from event_store.events group by stream`;

/** Lets an identity column continue after its highest value. */
export const continueIdentity = (table: string, column: string): Sql =>
  sql.raw(`
    select setval(pg_get_serial_sequence('${table}', '${column}'), greatest(max(${column}), 1), max(${column}) is not null)
      from ${table}`);

/**
 * Consumes transaction ids until the cluster has passed those of the log, which followers need (ADR 13). A restore
 * itself consumes more ids than most logs need.
 */
export const passTransactions = (last: string): Sql =>
  sql.raw(`
    do $$ begin
      while pg_current_xact_id() <= '${BigInt(last)}'::xid8 loop
        commit;
      end loop;
    end $$`);

/** The positions of these events in the restored log. */
export const selectRestoredPositions = (positions: readonly number[]): Sql => sql`
  select transaction::text as transaction, position from event_store.events where position = any (${positions}::bigint[])`;
