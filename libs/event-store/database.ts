import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import pg from 'pg';
import { compile, unavailable, type Sql } from '#kernel';
import { Batch, type Prepared } from './batch.js';
import { isOutage, isStatementMixUp } from './postgres-errors.js';
import { rowTypes } from './row-types.js';

export type Row = Record<string, unknown>;

export type DatabaseOptions = {
  readonly url: string;
  /** Shared, pipelined connections: more of them only add context switches (DESIGN decision 8 has the figures). */
  readonly connections: number;
  readonly applicationName: string;
  /** Where the projections' tables are looked up. */
  readonly searchPath?: string;
};

/** Counts what is sent; the test that bounds statements per request reads it. */
export type StatementCounter = { statements: number; roundTrips: number };

/** One connection of its own, for who holds locks or reads long: followers, rebuild, verify. */
export type Session = {
  run<T extends Row = Row>(statement: Sql): Promise<T[]>;
  /** All of them in one round trip, one after the other: as one transaction, or as part of the one that has begun. */
  pipeline(statements: readonly Sql[]): Promise<Row[][]>;
  onNotification(listener: () => void): void;
  close(): Promise<void>;
};

// Statements are prepared under a name made of their text, once per connection.
const names = new Map<string, string>();
const nameOf = (text: string): string => {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha1').update(text).digest('base64url');
    names.set(text, name);
  }
  return name;
};

/** Postgres forgets what has no name as soon as the next one of that kind comes. */
const prepare = (statement: Sql): Prepared => {
  const { text, values } = compile(statement);
  return { name: statement.kept ? nameOf(text) : '', text, values };
};

/** What pg's declarations leave out: the socket that a client writes to. */
type WithSocket = { readonly connection: { readonly stream: Socket } };

const corked = new WeakSet<Socket>();

/**
 * Holds back what is written until this turn of the event loop is over: the statements of a transaction, and those of
 * all requests that came in together, leave in one system call. Without it a sixth of the gateway's time is `writev`.
 */
const corkForThisTurn = (client: pg.Client): void => {
  const { stream } = (client as unknown as WithSocket).connection;
  if (corked.has(stream)) return;
  corked.add(stream);
  stream.cork();
  setImmediate(() => {
    corked.delete(stream);
    stream.uncork();
  });
};

const send = (client: pg.Client, statements: readonly Sql[]): Promise<Row[][]> =>
  new Promise((resolve, reject) => {
    corkForThisTurn(client);
    client.query(new Batch(statements.map(prepare), rowTypes, resolve, reject));
  });

// What a request may wait for, in milliseconds: a lock, its statement, an answer at all. Followers, rebuild and verify
// use sessions, which have no such limits.
const LOCK_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
const ANSWER_TIMEOUT_MS = 20_000;
const REPEATS = 3;

type Limits = Pick<pg.ClientConfig, 'lock_timeout' | 'statement_timeout' | 'query_timeout'>;
const LIMITS: Limits = {
  lock_timeout: LOCK_TIMEOUT_MS,
  statement_timeout: STATEMENT_TIMEOUT_MS,
  query_timeout: ANSWER_TIMEOUT_MS,
};

/**
 * Postgres takes a page that is read out of turn to cost four times as much, as on disks that had to turn for it, and would
 * rather read a table of many organizations whole than half of an index: also for the smallest of them.
 */
const INDEXES_FIRST = '-c random_page_cost=1.1';

class Lane {
  pending = 0;
  private client: Promise<pg.Client> | null = null;
  private closed = false;

  constructor(private readonly connect: (onEnd: () => void) => Promise<pg.Client>) {}

  /** All of them as one transaction; nobody's statement comes between, so it needs no connection of its own. */
  async pipeline(statements: readonly Sql[]): Promise<Row[][]> {
    this.pending += 1;
    try {
      const client = await this.connected();
      return await send(client, statements);
    } finally {
      this.pending -= 1;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    // It may never have come up; then there is nothing to close.
    const client = await this.client?.catch(() => null);
    await client?.end();
  }

  private connected(): Promise<pg.Client> {
    if (this.closed) throw new Error('the database has been closed');
    if (this.client) return this.client;
    // A connection tells of its end more than once; by then there may be another one, which must stay.
    const forget = (): void => {
      if (this.client === opened) this.client = null;
    };
    const opened = this.connect(forget);
    this.client = opened;
    opened.catch(forget);
    return opened;
  }
}

/**
 * Postgres through a few pipelined connections that all requests share: a statement is sent the moment it is asked for,
 * without waiting for earlier answers. Those that may take seconds go by one of their own, where only they wait for another.
 */
export class Database {
  readonly count: StatementCounter = { statements: 0, roundTrips: 0 };
  private readonly lanes: readonly Lane[];
  private readonly slowLane: Lane;

  constructor(private readonly options: DatabaseOptions) {
    const lane = (): Lane => new Lane((onEnd) => this.connect(onEnd, LIMITS));
    this.lanes = Array.from({ length: options.connections }, lane);
    this.slowLane = lane();
  }

  async rows<T extends Row = Row>(statement: Sql): Promise<T[]> {
    const [rows] = await this.pipeline([statement]);
    return rows as T[];
  }

  async row<T extends Row = Row>(statement: Sql): Promise<T | undefined> {
    return (await this.rows<T>(statement))[0];
  }

  /** All or nothing, in one round trip. Resolves when it is committed, to the rows of each statement. */
  transaction(statements: readonly Sql[]): Promise<Row[][]> {
    return this.pipeline(statements);
  }

  async session(onEnd: () => void = () => undefined): Promise<Session> {
    const client = await this.connect(onEnd);
    return {
      run: async <T extends Row>(statement: Sql) => (await send(client, [statement]))[0] as T[],
      pipeline: (statements) => send(client, statements),
      onNotification: (listener) => void client.on('notification', listener),
      close: () => client.end(),
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.lanes, this.slowLane].map((lane) => lane.close()));
  }

  private async pipeline(statements: readonly Sql[], repeats = REPEATS): Promise<Row[][]> {
    this.count.statements += statements.length;
    this.count.roundTrips += 1;
    const lane = statements.some(({ slow }) => slow) ? this.slowLane : this.leastBusy();
    try {
      return await lane.pipeline(statements);
    } catch (error) {
      // A name whose first use fell into a failed transaction was never prepared, though later uses counted on it, or
      // prepare it twice. Nothing was done (a transaction was rolled back), so it is sent once more.
      if (repeats > 0 && isStatementMixUp(error)) return this.pipeline(statements, repeats - 1);
      if (isOutage(error)) throw unavailable('The database is not available at the moment. Please try again.', 1);
      throw error;
    }
  }

  private leastBusy(): Lane {
    return this.lanes.reduce((best, next) => (next.pending < best.pending ? next : best));
  }

  private async connect(onEnd: () => void, limits: Limits = {}): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.options.url,
      application_name: this.options.applicationName,
      options: `-c search_path=${this.options.searchPath ?? 'views'} -c timezone=UTC ${INDEXES_FIRST}`,
      types: rowTypes,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      pipeline: true,
      ...limits,
    });
    // A broken connection is reported to every query on it; here it only has to make room for the next one.
    client.on('error', onEnd);
    client.on('end', onEnd);
    await client.connect();
    return client;
  }
}
