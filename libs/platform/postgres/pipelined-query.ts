import { createRequire } from 'node:module';
import pg from 'pg';
import type { DatabaseRow } from './database-row.js';

/**
 * A statement that is prepared once for each connection under its name. If the name is empty, it is prepared for each
 * use.
 */
export type PreparedStatement = { readonly name: string; readonly text: string; readonly values: readonly unknown[] };

type PipelinedStatements = {
  readonly statements: readonly PreparedStatement[];
  /** Runs first. Its rows are not returned. */
  readonly preamble: PreparedStatement | undefined;
};

/** The members of pg's connection that a query uses. pg's type declarations omit them. */
type ProtocolConnection = {
  close(message: { readonly type: 'S'; readonly name: string }): void;
  parse(message: { readonly name: string; readonly text: string }): void;
  bind(message: {
    readonly statement: string;
    readonly values: readonly unknown[];
    readonly valueMapper: (value: unknown) => unknown;
  }): void;
  describe(message: { readonly type: 'P'; readonly name: string }): void;
  execute(message: Record<never, never>): void;
  sync(): void;
};

type FieldDescription = { readonly name: string; readonly dataTypeID: number };

/** pg's conversion of values to text, which pg does not export. */
const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  readonly prepareValue: (value: unknown) => unknown;
};

/** The columns of a prepared statement. The first response describes them, and they never change. */
class RowShape {
  private readonly names: readonly string[];
  private readonly parsers: readonly ((text: string) => unknown)[];
  private readonly empty: DatabaseRow;

  constructor(fields: readonly FieldDescription[], types: pg.CustomTypesConfig) {
    this.names = fields.map(({ name }) => name);
    this.parsers = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text') as (text: string) => unknown);
    this.empty = Object.fromEntries(this.names.map((name) => [name, null]));
  }

  /** A copy of the empty row has all properties from the start, so that V8 gives all rows one hidden class. */
  row(values: readonly (string | null)[]): DatabaseRow {
    const row = { ...this.empty };
    for (const [n, value] of values.entries()) {
      if (value !== null) row[this.names[n] as string] = (this.parsers[n] as (text: string) => unknown)(value);
    }
    return row;
  }
}

/**
 * A prepared statement takes about 150 kB of its Postgres process, more with its plan. Beyond this number the
 * connection closes the least recently used statements.
 */
const MAX_PREPARED_STATEMENTS = 400;

/**
 * The prepared statements of each connection by name, the least recently used first. The value is null until the first
 * response describes the columns.
 */
const preparedOn = new WeakMap<ProtocolConnection, Map<string, RowShape | null>>();

const getPreparedNames = (connection: ProtocolConnection): Map<string, RowShape | null> => {
  const existing = preparedOn.get(connection);
  if (existing) return existing;
  const names = new Map<string, RowShape | null>();
  preparedOn.set(connection, names);
  return names;
};

const PORTAL = { type: 'P', name: '' } as const;

const refusedStatements = new WeakMap<object, number>();

/**
 * Returns the index of the statement that Postgres refused, so that the transaction was rolled back. The index is the
 * number of statements if the commit was refused. Null for any other error: the transaction may have been committed.
 */
export const getRefusedStatement = (error: unknown): number | null =>
  typeof error === 'object' && error !== null ? (refusedStatements.get(error) ?? null) : null;

/**
 * Sends several statements up to one Sync: Postgres runs them as one transaction and responds once. pg's own queries
 * each end in a Sync, so a transaction needs `begin` and `commit`, and every response describes its columns again. That
 * took a quarter of the gateway's time for a read and nearly half for an append (ADR 15).
 *
 * It extends pg.Query because pg accepts nothing else on a pipelined connection.
 */
export class PipelinedQuery extends pg.Query {
  callback: (error: unknown) => void;
  private readonly statements: readonly PreparedStatement[];
  private readonly results: DatabaseRow[][];
  private readonly hasPreamble: boolean;
  private shapes: (RowShape | null)[] = [];
  private rowShapes = new Map<string, RowShape | null>();
  /** Index of the statement that the next response belongs to. */
  private at = 0;

  constructor(
    { preamble, statements }: PipelinedStatements,
    private readonly rowTypes: pg.CustomTypesConfig,
    resolve: (rows: DatabaseRow[][]) => void,
    reject: (error: unknown) => void,
  ) {
    super('');
    this.hasPreamble = preamble !== undefined;
    this.statements = preamble ? [preamble, ...statements] : statements;
    this.results = this.statements.map(() => []);
    this.callback = (error) => (error ? reject(error) : resolve(preamble ? this.results.slice(1) : this.results));
  }

  override submit = (to: pg.Connection): void => {
    const connection = to as unknown as ProtocolConnection;
    this.rowShapes = getPreparedNames(connection);
    for (const { name, text, values } of this.statements) {
      const shape = this.rowShapes.get(name);
      if (shape === undefined) {
        // The statement may exist after a failed batch. Closing a missing statement has no effect.
        if (name !== '') connection.close({ type: 'S', name });
        connection.parse({ name, text });
      }
      if (name !== '') this.use(connection, name, shape ?? null);
      connection.bind({ statement: name, values, valueMapper: prepareValue });
      if (!shape) connection.describe(PORTAL);
      this.shapes.push(shape ?? null);
      connection.execute({});
    }
    connection.sync();
  };

  handleRowDescription({ fields }: { readonly fields: readonly FieldDescription[] }): void {
    const shape = new RowShape(fields, this.rowTypes);
    this.shapes[this.at] = shape;
    // A later batch may have closed the statement.
    if (this.rowShapes.has(this.current.name)) this.rowShapes.set(this.current.name, shape);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.results[this.at]?.push((this.shapes[this.at] as RowShape).row(fields));
  }

  handleCommandComplete(): void {
    this.at += 1;
  }

  handleEmptyQuery(): void {
    this.at += 1;
  }

  /** Postgres skips all statements after the failed one, their preparation included. */
  handleError(error: unknown): void {
    for (const { name } of this.statements.slice(this.at)) this.rowShapes.delete(name);
    // A fatal error ends the connection, possibly after a commit.
    if (error instanceof pg.DatabaseError && error.severity === 'ERROR') this.recordRefusal(error);
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  /** A refused preamble counts as an outage of the transaction, not as the refusal of one of its statements. */
  private recordRefusal(error: pg.DatabaseError): void {
    const at = this.hasPreamble ? this.at - 1 : this.at;
    if (at >= 0) refusedStatements.set(error, at);
  }

  /** Marks the statement as the most recently used one and closes the least recently used one beyond the limit. */
  private use(connection: ProtocolConnection, name: string, shape: RowShape | null): void {
    this.rowShapes.delete(name);
    this.rowShapes.set(name, shape);
    if (this.rowShapes.size <= MAX_PREPARED_STATEMENTS) return;
    const [oldest] = this.rowShapes.keys();
    if (oldest === undefined) return;
    this.rowShapes.delete(oldest);
    connection.close({ type: 'S', name: oldest });
  }

  private get current(): PreparedStatement {
    return this.statements[this.at] as PreparedStatement;
  }
}
