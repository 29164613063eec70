import type { Sql } from '#kernel';

export type Row = Record<string, unknown>;

/** Runs a statement on the connections for reads and returns its rows. `Database` implements it. */
export type RowReader = { rows<R extends Row>(statement: Sql): Promise<R[]> };
