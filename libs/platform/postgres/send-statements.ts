import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import pg from 'pg';
import { compileStatement, type Sql } from '#platform/kernel';
import type { DatabaseRow } from './database-row.js';
import { PipelinedQuery, type PreparedStatement } from './pipelined-query.js';
import { rowTypes } from './row-types.js';

// Each connection prepares a statement once, under a name derived from its text.
const names = new Map<string, string>();
/**
 * The code contains some hundred texts. Beyond this number the map is cleared, so that it cannot grow without limit.
 */
const MAX_STATEMENT_NAMES = 5_000;
/** Returns the name under which connections prepare a statement. */
export const nameStatement = (text: string): string => {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha1').update(text).digest('base64url');
    if (names.size >= MAX_STATEMENT_NAMES) names.clear();
    names.set(text, name);
  }
  return name;
};

export type SendOptions = {
  /** Runs before the statements in the same transaction, and returns no rows to the caller. */
  readonly preamble?: Sql;
  /** If false, Postgres parses and plans each statement for each use, because later uses may reach other sessions. */
  readonly mayPrepare?: boolean;
};

/** Postgres replaces an unnamed statement with the next unnamed one. */
const toPreparedStatement = (statement: Sql, mayPrepare: boolean): PreparedStatement => {
  const { text, values } = compileStatement(statement);
  return { name: mayPrepare && statement.isPrepared ? nameStatement(text) : '', text, values };
};

/** The socket of a client, which pg's type declarations omit. */
type ClientWithSocket = { readonly connection: { readonly stream: Socket } };

const getSocket = (client: pg.Client): Socket => (client as unknown as ClientWithSocket).connection.stream;

/** Ends a connection that does not answer. Its statements fail. */
export const destroyClient = (client: pg.Client): void => void getSocket(client).destroy();

const corked = new WeakSet<Socket>();

/**
 * Buffers writes until the current turn of the event loop ends. The statements of a transaction, and those of all
 * requests that arrived together, then leave in one system call. Without it, the gateway spends a sixth of its time in
 * `writev`.
 */
const corkForThisTick = (client: pg.Client): void => {
  const stream = getSocket(client);
  if (corked.has(stream)) return;
  corked.add(stream);
  stream.cork();
  setImmediate(() => {
    corked.delete(stream);
    stream.uncork();
  });
};

/** Runs the statements in one transaction and one round trip. */
export const sendStatements = (
  client: pg.Client,
  statements: readonly Sql[],
  { preamble, mayPrepare = true }: SendOptions = {},
): Promise<DatabaseRow[][]> =>
  new Promise((resolve, reject) => {
    corkForThisTick(client);
    const prepared = statements.map((statement) => toPreparedStatement(statement, mayPrepare));
    const first = preamble && toPreparedStatement(preamble, mayPrepare);
    client.query(new PipelinedQuery({ statements: prepared, preamble: first }, rowTypes, resolve, reject));
  });
