import { sql, type Sql } from '../runtime/sql.js';
import type { RecordedEvent } from './recorded-event.js';

/**
 * A view, and the table of its rows that can be recovered (ADR 116): `id`, `organization`, `name`, `deleted_by`,
 * `deleted_at`, `recoverable_until`, and the row of the view as `contents`.
 */
export type RecoverableRows = { readonly table: string; readonly deletedTable: string };

/** Expressions about the row of the view, `deleted`, by the columns of the other table. */
type DeletedColumns = Readonly<Record<string, Sql>>;

/** Returns the statement that moves rows to the other table, with the row of the view as `contents`. */
export const moveRows = ({ table, deletedTable }: RecoverableRows, where: Sql, columns: DeletedColumns): Sql => {
  const all: DeletedColumns = { contents: sql`to_jsonb(deleted)`, ...columns };
  return sql`
  with deleted as (delete from ${sql.raw(table)} d where ${where} returning d.*)
  insert into ${sql.raw(deletedTable)} (${sql.raw(Object.keys(all).join(', '))})
  select ${sql.join(Object.values(all), ', ')} from deleted`;
};

/** A condition about rows of the view, and values of further columns of the other table. */
type DeletedRows = { readonly where: Sql; readonly columns?: DeletedColumns };

/** Returns the statement that moves the rows of deleted resources to the other table. */
export const moveToDeleted = (
  rows: RecoverableRows,
  { where, columns = {} }: DeletedRows,
  recoverableUntil: string,
  { time, context: { accessor } }: RecordedEvent,
): Sql =>
  moveRows(rows, where, {
    id: sql`id`,
    organization: sql`organization`,
    name: sql`name`,
    deleted_by: sql`${sql.json(accessor)}::jsonb`,
    deleted_at: sql`${time}::timestamptz`,
    recoverable_until: sql`${recoverableUntil}::timestamptz`,
    ...columns,
  });

/** Returns the statement that restores rows, with these columns replaced. `where`: a condition about the other table. */
export const restoreRows = (
  { table, deletedTable }: RecoverableRows,
  where: Sql,
  replaced: Readonly<Record<string, unknown>>,
): Sql => sql`
  with recovered as (delete from ${sql.raw(deletedTable)} where ${where} returning contents)
  insert into ${sql.raw(table)}
  select restored.*
    from recovered,
         jsonb_populate_record(null::${sql.raw(table)}, recovered.contents || ${sql.json(replaced)}::jsonb) restored`;
