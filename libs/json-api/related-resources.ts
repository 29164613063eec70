import type { Sql } from '#kernel';
import { runCombinedQueries, type Database, type DatabaseRow } from '#postgres';
import type { Resource } from './document.js';

type Resources = readonly Resource[] | Promise<readonly Resource[]>;

/**
 * Resources that a document brings along: the query for their rows, and what the caller is shown of those. Who keeps the
 * resources makes it, so that they are what their own endpoint answers with, and left out where that would say no.
 * The ids it is made for are an expression of type text[]: a parameter, or a query for what other rows name.
 */
export type RelatedResources = { readonly query: Sql; readonly render: (rows: readonly DatabaseRow[]) => Resources };

export const defineRelated = <R extends DatabaseRow>(
  query: Sql,
  render: (rows: readonly R[]) => Resources,
): RelatedResources => ({
  query,
  render: (rows) => render(rows as readonly R[]),
});

type SlowReadCaller = { readonly id: string };

/** Returns the caller that the related resources of a list are read for as slow statements; null for a single resource. */
export const getSlowReadCaller = (caller: SlowReadCaller, rows: readonly unknown[]): SlowReadCaller | null =>
  rows.length > 1 ? caller : null;

/**
 * Reads all of them in one statement, or in none if there is nothing to read. With `slowFor` the statement is a slow one of
 * that caller (docs/explanation/adr/0030): wherever its cost grows with what a list or an organization has.
 */
export const readRelated = async (
  database: Database,
  wanted: readonly RelatedResources[],
  slowFor: SlowReadCaller | null,
): Promise<Resource[]> => {
  const found = await runCombinedQueries(
    database,
    wanted.map(({ query }) => query),
    slowFor,
  );
  const rendered = await Promise.all(wanted.map(async ({ render }, n) => render(found[n] ?? [])));
  return rendered.flat();
};
