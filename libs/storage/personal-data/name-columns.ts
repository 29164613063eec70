import { sql, type NameColumn, type Sql } from '#platform/kernel';

/**
 * SQL expressions for a column with names: the person's id, the name, and the value of the column with the id in place
 * of the name.
 */
type NameExpressions = {
  readonly column: string;
  readonly id: string;
  readonly name: string;
  readonly nameless: string;
};

const buildNameExpressions = (one: NameColumn): NameExpressions => {
  const { column } = one;
  if ('id' in one) return { column, id: one.id, name: column, nameless: one.id };
  const at = (key: string): string => `'{${[...(one.at ?? []), key].join(',')}}'`;
  return {
    column,
    id: `${column} #>> ${at('id')}`,
    name: `${column} #>> ${at('name')}`,
    nameless: `jsonb_set(${column}, ${at('name')}, ${column} #> ${at('id')})`,
  };
};

const hasName = ({ id, name }: NameExpressions, people: readonly string[]): Sql =>
  sql`(${sql.raw(id)} = any (${people}::text[]) and ${sql.raw(name)} <> ${sql.raw(id)})`;

/** Returns the condition that a row contains the name of one of these people. All columns belong to one table. */
export const isAnyNamed = (columns: readonly NameColumn[], people: readonly string[]): Sql =>
  sql.join(
    columns.map((column) => hasName(buildNameExpressions(column), people)),
    ' or ',
  );

/** Returns the assignments of an update that replaces the names with ids. */
export const buildNameErasure = (columns: readonly NameColumn[], people: readonly string[]): Sql =>
  sql.join(
    columns.map(buildNameExpressions).map((expressions) => {
      const [column, nameless] = [sql.raw(expressions.column), sql.raw(expressions.nameless)];
      return sql`${column} = case when ${hasName(expressions, people)} then ${nameless} else ${column} end`;
    }),
    ', ',
  );

/** Groups columns by table, in the order in which the tables first appear. */
export const groupByTable = (columns: readonly NameColumn[]): ReadonlyMap<string, readonly NameColumn[]> =>
  Map.groupBy(columns, ({ table }) => table);

/**
 * Returns updates that erase the names in complete tables which no other transaction uses. `tableName` maps a table
 * to its current name.
 */
export const buildErasureStatements = (
  columns: readonly NameColumn[],
  people: readonly string[],
  tableName: (table: string) => string,
): readonly Sql[] =>
  people.length === 0
    ? []
    : [...groupByTable(columns)].map(
        ([table, its]) =>
          sql`update ${sql.raw(tableName(table))} set ${buildNameErasure(its, people)} where ${isAnyNamed(its, people)}`,
      );

/**
 * Shared by transactions that read names and write them into views, for as long as that takes. Exclusive for a
 * transaction that forgets a person or erases a page of such a view. A transaction acquires it before any other lock.
 */
const NAMES_LOCK = sql`event_store.lock_of('names in views')`;

export const ACQUIRE_SHARED_NAMES_LOCK = sql`select pg_advisory_lock_shared(${NAMES_LOCK})`;
export const RELEASE_SHARED_NAMES_LOCK = sql`select pg_advisory_unlock_shared(${NAMES_LOCK})`;
/** The same until the end of the transaction. */
export const ACQUIRE_SHARED_NAMES_XACT_LOCK = sql`select pg_advisory_xact_lock_shared(${NAMES_LOCK})`;
export const ACQUIRE_NAMES_LOCK = sql`select pg_advisory_xact_lock(${NAMES_LOCK})`;
