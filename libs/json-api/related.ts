import type { Sql } from '#kernel';
import { rowsTogether, type Database, type Row } from '#event-store';
import type { Resource } from './document.js';

type Resources = readonly Resource[] | Promise<readonly Resource[]>;

/**
 * Resources that a document brings along: the query for their rows, and what the caller is shown of those. Who keeps the
 * resources makes it, so that they are what their own endpoint answers with, and left out where that would say no.
 * The ids it is made for are an expression of type text[]: a parameter, or a query for what other rows name.
 */
export type Related = { readonly query: Sql; readonly render: (rows: readonly Row[]) => Resources };

export const related = <R extends Row>(query: Sql, render: (rows: readonly R[]) => Resources): Related => ({
  query,
  render: (rows) => render(rows as readonly R[]),
});

/** All of them, read in one statement; in none where there is nothing to read. */
export const readRelated = async (database: Database, wanted: readonly Related[]): Promise<Resource[]> => {
  const found = await rowsTogether(
    database,
    wanted.map(({ query }) => query),
  );
  const rendered = await Promise.all(wanted.map(async ({ render }, n) => render(found[n] ?? [])));
  return rendered.flat();
};
