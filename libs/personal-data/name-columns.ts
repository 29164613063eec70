import { sql, type NameColumn, type Sql } from '#kernel';

/** What a column says, as expressions: whose name it is, the name, and the column with the id in its place. */
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

const isNamed = ({ id, name }: NameExpressions, people: readonly string[]): Sql =>
  sql`(${sql.raw(id)} = any (${people}::text[]) and ${sql.raw(name)} <> ${sql.raw(id)})`;

/** Whether a row calls one of them by a name. Columns of one table. */
export const isAnyNamed = (columns: readonly NameColumn[], people: readonly string[]): Sql =>
  sql.join(
    columns.map((column) => isNamed(buildNameExpressions(column), people)),
    ' or ',
  );

/** What an update sets so that it does no more. */
export const buildNameErasure = (columns: readonly NameColumn[], people: readonly string[]): Sql =>
  sql.join(
    columns.map(buildNameExpressions).map((naming) => {
      const [column, nameless] = [sql.raw(naming.column), sql.raw(naming.nameless)];
      return sql`${column} = case when ${isNamed(naming, people)} then ${nameless} else ${column} end`;
    }),
    ', ',
  );

/** By table, in the order in which they are first named. */
export const groupByTable = (columns: readonly NameColumn[]): ReadonlyMap<string, readonly NameColumn[]> =>
  Map.groupBy(columns, ({ table }) => table);

/** In the whole of tables that nobody else works with, which stand there under such names. */
export const buildErasureStatements = (
  columns: readonly NameColumn[],
  people: readonly string[],
  standing: (table: string) => string,
): readonly Sql[] =>
  people.length === 0
    ? []
    : [...groupByTable(columns)].map(
        ([table, its]) =>
          sql`update ${sql.raw(standing(table))} set ${buildNameErasure(its, people)} where ${isAnyNamed(its, people)}`,
      );

/**
 * Held by who reads names and writes them into views, from the one to the other; taken alone by who forgets somebody, or has
 * a page of such a view in hand. Before it, nothing else is waited for.
 */
const NAMES_LOCK = sql`event_store.lock_of('names in views')`;

export const ACQUIRE_SHARED_NAMES_LOCK = sql`select pg_advisory_lock_shared(${NAMES_LOCK})`;
export const RELEASE_SHARED_NAMES_LOCK = sql`select pg_advisory_unlock_shared(${NAMES_LOCK})`;
export const ACQUIRE_NAMES_LOCK = sql`select pg_advisory_xact_lock(${NAMES_LOCK})`;
