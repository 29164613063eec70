import { foldInSql, sql, type UniqueNames } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/** Names that differ only in case, the oldest first, and the name of their organization; null for organizations. */
type SimilarNames = { readonly names: readonly string[]; readonly organization: string | null };

/** Returns the names that differ only in case. */
export const listSimilarNames = (
  database: Database,
  { table, scope, column = 'name' }: UniqueNames,
): Promise<SimilarNames[]> => {
  const name = sql.raw(column);
  const group = sql.join([...scope.map((scopeColumn) => sql.raw(scopeColumn)), foldInSql(name)], ', ');
  const organization =
    scope.length === 0
      ? sql.raw('null::text')
      : sql.raw('(select owner.name from organizations owner where owner.id = min(organization))');
  return database.rows<SimilarNames>(sql`select array_agg(${name} order by created_at, id) as names, ${organization} as organization
               from ${sql.raw(table)} group by ${group} having count(*) > 1 order by ${group}`);
};
