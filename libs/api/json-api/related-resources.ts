import type { Sql } from '#platform/kernel';
import { rowCasts, runCombinedQueries, type Database, type DatabaseRow } from '#platform/postgres';
import type { Document, Resource } from './document.js';

type Resources = readonly Resource[] | Promise<readonly Resource[]>;

/**
 * Related resources of a document: the query for their rows, and the function that renders the rows which the caller
 * may see. The module that owns the resources defines it, so that they equal the response of their own endpoint.
 * Resources that this endpoint would refuse are left out. The ids are an SQL expression of type text[]: a parameter, or
 * a query for the ids in other rows.
 */
export type RelatedResources = { readonly query: Sql; readonly render: (rows: readonly DatabaseRow[]) => Resources };

export const defineRelated = <R extends DatabaseRow>(
  query: Sql,
  render: (rows: readonly R[]) => Resources,
): RelatedResources => {
  const cast = rowCasts.create<R>();
  return { query, render: (rows) => render(cast(rows)) };
};

/** A document with the id of the resource that it is about. */
export type KeyedDocument = { readonly key: string; readonly document: Document };

/** The query for rows of resources, whose column `id` is the key, and the function that renders them. */
export type KeyedDocuments = {
  readonly query: Sql;
  readonly render: (rows: readonly DatabaseRow[]) => RenderedDocuments;
};

type RenderedDocuments = readonly KeyedDocument[] | Promise<readonly KeyedDocument[]>;

export const defineKeyedDocuments = <R extends DatabaseRow>(
  query: Sql,
  render: (rows: readonly R[]) => RenderedDocuments,
): KeyedDocuments => {
  const cast = rowCasts.create<R>();
  return { query, render: (rows) => render(cast(rows)) };
};

type SlowReadCaller = { readonly id: string };

/**
 * Returns the caller that the limit for slow statements counts if the related resources belong to a list; null for a
 * single resource.
 */
export const getSlowReadCaller = (caller: SlowReadCaller, rows: readonly unknown[]): SlowReadCaller | null =>
  rows.length > 1 ? caller : null;

/**
 * Reads all related resources in one statement; runs none if the list is empty. With `slowFor`, the statement counts as
 * a slow one of that caller (docs/explanation/adr/0030). Use it if the cost grows with the size of a list or an
 * organization.
 */
export const readRelated = async (
  database: Database,
  related: readonly RelatedResources[],
  slowFor: SlowReadCaller | null,
): Promise<Resource[]> => {
  const results = await runCombinedQueries(
    database,
    related.map(({ query }) => query),
    slowFor,
  );
  const rendered = await Promise.all(related.map(async ({ render }, n) => render(results[n] ?? [])));
  return rendered.flat();
};
