import type { Sql } from '#kernel';

export type DatabaseRow = Record<string, unknown>;

/** Runs a statement on a connection of the caller's choice, and returns its rows. */
export type QueryRunner = (statement: Sql) => Promise<DatabaseRow[]>;
