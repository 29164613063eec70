import { sql, type Sql } from '../runtime/sql.js';
import type { RecordedEvent } from './recorded-event.js';

/**
 * A view, and the table of its rows that can be recovered (ADR 116): `id`, `organization`, `name`, `deleted_by`,
 * `deleted_at`, `recoverable_until`, and the row of the view as `contents`.
 */
export type RecoverableRows = { readonly table: string; readonly aside: string };

/** A condition about rows of the view, and values of further columns of the other table. */
type MovedRows = { readonly where: Sql; readonly columns?: Readonly<Record<string, Sql>> };

/** Returns the statement that moves rows of deleted resources aside. */
export const moveRowsAside = (
  { table, aside }: RecoverableRows,
  { where, columns = {} }: MovedRows,
  recoverableUntil: string,
  { time, context: { accessor } }: RecordedEvent,
): Sql => {
  const names = Object.keys(columns).map((name) => sql.raw(`, ${name}`));
  return sql`
  with deleted as (delete from ${sql.raw(table)} d where ${where} returning d.*)
  insert into ${sql.raw(aside)} (id, organization, name, deleted_by, deleted_at, recoverable_until, contents${sql.join(names, '')})
  select id, organization, name, ${sql.json(accessor)}::jsonb, ${time}::timestamptz, ${recoverableUntil}::timestamptz,
         to_jsonb(deleted)${sql.join(
           Object.values(columns).map((value) => sql`, ${value}`),
           '',
         )}
    from deleted`;
};

/** Returns the statement that brings rows back, with these columns replaced. `where`: a condition about the other table. */
export const bringRowsBack = (
  { table, aside }: RecoverableRows,
  where: Sql,
  replaced: Readonly<Record<string, unknown>>,
): Sql => sql`
  with recovered as (delete from ${sql.raw(aside)} where ${where} returning contents)
  insert into ${sql.raw(table)}
  select back.*
    from recovered, jsonb_populate_record(null::${sql.raw(table)}, recovered.contents || ${sql.json(replaced)}::jsonb) back`;
