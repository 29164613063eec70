import { compileStatement, Sql } from '#platform/kernel';
import type { DatabaseRow } from './database-row.js';

/**
 * A query for the rows of one key. Queries that differ only in the key can share one statement, which costs about a
 * third of a statement for each key.
 */
export type KeyedQuery = {
  readonly key: string;
  /** Name of the column of the result that contains the key. */
  readonly column: string;
  readonly select: (keys: readonly string[]) => Sql;
};

export const isKeyedQuery = (query: Sql | KeyedQuery): query is KeyedQuery => !(query instanceof Sql);

export const toStatement = (query: Sql | KeyedQuery): Sql => (isKeyedQuery(query) ? query.select([query.key]) : query);

/** Queries of several keys in one statement. */
type MergedQuery = { readonly statement: Sql; readonly queries: readonly KeyedQuery[] };

/** Returns one statement for all queries that have the same text and the same values besides the key. */
export const mergeKeyedQueries = (queries: readonly KeyedQuery[]): readonly MergedQuery[] => {
  const [first] = queries;
  if (first && queries.length === 1) return [{ statement: first.select([first.key]), queries }];
  const byShape = new Map<string, KeyedQuery[]>();
  for (const query of queries) {
    const { text, values } = compileStatement(query.select([]));
    const shape = JSON.stringify([query.column, text, values]);
    const same = byShape.get(shape);
    if (same) same.push(query);
    else byShape.set(shape, [query]);
  }
  return [...byShape.values()].map((same) => ({
    statement: (same[0] as KeyedQuery).select([...new Set(same.map(({ key }) => key))]),
    queries: same,
  }));
};

/** Returns the rows of one of several merged queries. */
export const pickRows = (rows: DatabaseRow[], { key, column }: KeyedQuery): DatabaseRow[] =>
  rows.every((row) => row[column] === key) ? rows : rows.filter((row) => row[column] === key);
