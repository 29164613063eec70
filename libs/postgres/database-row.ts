import type { Sql } from '#kernel';

export type DatabaseRow = Record<string, unknown>;

/** Runs a statement on the connections for reads and returns its rows. `Database` implements it. */
export type RowReader = { rows<R extends DatabaseRow>(statement: Sql): Promise<R[]> };

/** Runs a statement on a connection that the caller chose, and returns its rows. */
export type QueryRunner = (statement: Sql) => Promise<DatabaseRow[]>;
