import { sql, type Sql } from '../runtime/sql.js';

/** The names of a view. They are unique in their scope and found regardless of case, and shown as written. */
export type UniqueNames = {
  readonly table: string;
  /** Columns that limit the scope: only rows with equal values must have different names. Empty: the scope is the site. */
  readonly scope: readonly string[];
  /** The column of the names. Default: `name`. */
  readonly column?: string;
  /** The unique constraint of the exact names. A name in another case is refused with the same constraint. */
  readonly constraint: string;
  /** The resources in messages, such as `agent pools`. */
  readonly noun: string;
};

/** Folds the letters A to Z, as `foldInSql` does, and no others: the case of other letters depends on the language. */
export const foldName = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Returns whether the names are the same regardless of case. */
export const hasSameName = (one: string, other: string): boolean => foldName(one) === foldName(other);

/** Returns the folded name. The collation makes the result the same in every database, so indexes can contain it. */
export const foldInSql = (name: Sql): Sql => sql`lower(${name} collate "C")`;

const toColumn = (alias: string, name: string): Sql => sql.raw(`${alias}.${name}`);

const toNameColumn = ({ column = 'name' }: Pick<UniqueNames, 'column'>, alias: string): Sql => toColumn(alias, column);

const listScopeConditions = ({ scope }: UniqueNames, one: string, other: string): readonly Sql[] =>
  scope.map((name) => sql`${toColumn(one, name)} = ${toColumn(other, name)}`);

/**
 * Returns the condition that the row has this name. Names that differ only in case can be older than the rule that
 * names are unique regardless of case. Of these, the exact name wins, and otherwise the oldest row. The subquery runs
 * only for a name in another case.
 */
export const hasName = (names: UniqueNames, alias: string, name: string | Sql): Sql => {
  const own = toNameColumn(names, alias);
  const twin = toNameColumn(names, 'twin');
  const folded = typeof name === 'string' ? sql`${foldName(name)}` : foldInSql(name);
  const isOther = sql.and([
    ...listScopeConditions(names, 'twin', alias),
    sql`${foldInSql(twin)} = ${folded}`,
    sql`twin.id <> ${toColumn(alias, 'id')}`,
  ]);
  return sql`(${foldInSql(own)} = ${folded} and (${own} = ${name} or not exists (
    select 1 from ${sql.raw(names.table)} twin
     where ${isOther} and (${twin} = ${name}
           or (twin.created_at, twin.id) < (${toColumn(alias, 'created_at')}, ${toColumn(alias, 'id')})))))`;
};

/** Returns the condition that the row has one of these names: see `hasName`. */
export const hasOneOfNames = (names: UniqueNames, alias: string, texts: readonly string[]): Sql => {
  const own = toNameColumn(names, alias);
  return sql`(${foldInSql(own)} = any (${texts.map(foldName)}::text[]) and (${own} = any (${texts}::text[]) or exists (
    select 1 from unnest(${texts}::text[]) candidate (name) where ${hasName(names, alias, sql.raw('candidate.name'))})))`;
};

/** Separates the locks of names from all other advisory locks. */
const NAME_LOCKS = 1_851_878_757;

/**
 * Returns the statements that keep names unique regardless of case. They run after the rows are written, in the same
 * transaction, and fail like a violation of the constraint if another row has the name. Two open transactions do not see
 * each other's rows, so the lock makes one of them wait. Postgres could not create a unique index in a data folder with
 * names that differ only in case. `allowed`: ids of other rows that can keep such a name.
 */
export const claimNames = (
  names: UniqueNames,
  ids: readonly string[] | Sql,
  { allowed = [] }: { readonly allowed?: readonly string[] } = {},
): readonly Sql[] => {
  const table = sql.raw(names.table);
  const name = foldInSql(toNameColumn(names, 'named'));
  const key = sql.join(
    [sql`${names.constraint}::text`, ...names.scope.map((scope) => toColumn('named', scope)), name],
    ` || ' ' || `,
  );
  return [
    // Locks in a fixed order, so that two transactions cannot deadlock.
    sql`select count(pg_advisory_xact_lock(${sql.raw(String(NAME_LOCKS))}, wanted.lock))
          from (select hashtext(${key}) as lock from ${table} named where named.id = any (${ids}::text[])
                 order by 1) wanted`,
    sql`select event_store.refuse_taken_name(${names.constraint})
          from ${table} named join ${table} other on ${sql.and([
            ...listScopeConditions(names, 'other', 'named'),
            sql`${foldInSql(toNameColumn(names, 'other'))} = ${name}`,
            sql.raw('other.id <> named.id'),
            ...(allowed.length > 0 ? [sql`other.id <> all (${allowed}::text[])`] : []),
          ])}
         where named.id = any (${ids}::text[])`,
  ];
};
