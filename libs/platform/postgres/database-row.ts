import type { Sql } from '#platform/kernel';

export type DatabaseRow = Record<string, unknown>;

/** Runs a statement on a connection of the caller's choice, and returns its rows. */
export type QueryRunner = (statement: Sql) => Promise<DatabaseRow[]>;

/**
 * The one place that gives rows their TypeScript type: `create` returns a function that does. TypeScript believes the
 * type. Tests replace `create`, record the rows that come to each place in the code, and compare them with the type
 * (ADR 39).
 */
export const rowCasts = {
  create:
    <T>() =>
    (rows: readonly DatabaseRow[]): T[] =>
      rows as T[],
};

/** Gives rows of a transaction the type that the statement has. */
export const castRows = <T>(rows: readonly DatabaseRow[]): T[] => rowCasts.create<T>()(rows);
