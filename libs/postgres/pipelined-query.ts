import { createRequire } from 'node:module';
import pg from 'pg';
import type { DatabaseRow } from './database-row.js';

/** A statement that is prepared under its name, once per connection; anew each time where that is empty. */
export type PreparedStatement = { readonly name: string; readonly text: string; readonly values: readonly unknown[] };

/** The parts of pg's connection that a query writes to; its declarations leave them out. */
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

/** pg's own turning of values into text, which it does not export. */
const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  readonly prepareValue: (value: unknown) => unknown;
};

/** How the rows of a prepared statement read: known from its first answer on, and the same ever after. */
class RowShape {
  private readonly names: readonly string[];
  private readonly parsers: readonly ((text: string) => unknown)[];
  private readonly empty: DatabaseRow;

  constructor(fields: readonly FieldDescription[], types: pg.CustomTypesConfig) {
    this.names = fields.map(({ name }) => name);
    this.parsers = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text') as (text: string) => unknown);
    this.empty = Object.fromEntries(this.names.map((name) => [name, null]));
  }

  /** A copy of the empty row has all its properties from the start: V8 then gives all rows one hidden class. */
  row(values: readonly (string | null)[]): DatabaseRow {
    const row = { ...this.empty };
    for (const [n, value] of values.entries()) {
      if (value !== null) row[this.names[n] as string] = (this.parsers[n] as (text: string) => unknown)(value);
    }
    return row;
  }
}

/**
 * A prepared statement takes some 150 kB of its backend, more with its plan. Of texts that were not used for the longest
 * time the connection forgets the statements above this number.
 */
const MAX_PREPARED_STATEMENTS = 400;

/**
 * The statements that each connection has prepared, by name, the least recently used first; null until its first answer describes
 * the columns.
 */
const preparedOn = new WeakMap<ProtocolConnection, Map<string, RowShape | null>>();

const getPreparedNames = (connection: ProtocolConnection): Map<string, RowShape | null> => {
  const known = preparedOn.get(connection);
  if (known) return known;
  const names = new Map<string, RowShape | null>();
  preparedOn.set(connection, names);
  return names;
};

const PORTAL = { type: 'P', name: '' } as const;

/**
 * Statements up to one Sync: Postgres runs them as one transaction and answers once. pg's own queries end in a Sync each,
 * so a transaction needs `begin` and `commit` around them, and every answer describes its columns anew. This took a
 * quarter of the gateway's time for a read and nearly half for an append (ADR 15).
 *
 * It is a pg.Query because pg lets nothing else share a pipelined connection.
 */
export class PipelinedQuery extends pg.Query {
  callback: (error: unknown) => void;
  private readonly results: DatabaseRow[][];
  private shapes: (RowShape | null)[] = [];
  private known = new Map<string, RowShape | null>();
  /** The statement whose answer comes next. */
  private at = 0;

  constructor(
    private readonly statements: readonly PreparedStatement[],
    private readonly rowTypes: pg.CustomTypesConfig,
    resolve: (rows: DatabaseRow[][]) => void,
    reject: (error: unknown) => void,
  ) {
    super('');
    this.results = statements.map(() => []);
    this.callback = (error) => (error ? reject(error) : resolve(this.results));
  }

  override submit = (to: pg.Connection): void => {
    const connection = to as unknown as ProtocolConnection;
    this.known = getPreparedNames(connection);
    for (const { name, text, values } of this.statements) {
      const shape = this.known.get(name);
      if (shape === undefined) {
        // It may be there after a batch that failed; closing what is not there does nothing.
        connection.close({ type: 'S', name });
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
    // A later batch may have closed it.
    if (this.known.has(this.current.name)) this.known.set(this.current.name, shape);
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

  /** What came after the statement that failed was skipped, its preparation included. */
  handleError(error: unknown): void {
    for (const { name } of this.statements.slice(this.at)) this.known.delete(name);
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  /** The statement becomes the most recently used one; the least recently used one makes room for it. */
  private use(connection: ProtocolConnection, name: string, shape: RowShape | null): void {
    this.known.delete(name);
    this.known.set(name, shape);
    if (this.known.size <= MAX_PREPARED_STATEMENTS) return;
    const [oldest] = this.known.keys();
    if (oldest === undefined) return;
    this.known.delete(oldest);
    connection.close({ type: 'S', name: oldest });
  }

  private get current(): PreparedStatement {
    return this.statements[this.at] as PreparedStatement;
  }
}
