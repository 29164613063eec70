import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import pg from 'pg';
import { compileStatement, unavailable, type Refusal, type Sql } from '#platform/kernel';
import { getRefusedStatement, PipelinedQuery, type PreparedStatement } from './pipelined-query.js';
import { databaseMetrics } from './postgres.metrics.js';
import { isFatalError, isOutage, isPreparedStatementError, isStatementTimeout } from './postgres-errors.js';
import { listActiveTraces, traceStatements, type StatementSharing } from './statement-spans.js';
import { RecentDelays } from './recent-delays.js';
import type { KeyedQuery } from './keyed-queries.js';
import { KeyedReads } from './keyed-reads.js';
import { rowTypes } from './row-types.js';
import { rowCasts, type DatabaseRow } from './database-row.js';
import { SLOW_LIMITS, SlowStatements, type SlowLimits } from './slow-statements.js';

export type DatabaseOptions = {
  readonly url: string;
  /**
   * Number of shared, pipelined connections for reads. More of them only add context switches (ADR 7 has the figures).
   */
  readonly connections: number;
  readonly applicationName: string;
  /** Milliseconds after which Postgres cancels a read; `slowReadTimeoutMs` applies to slow reads. */
  readonly readTimeoutMs?: number;
  readonly slowReadTimeoutMs?: number;
  readonly slow?: Partial<SlowLimits>;
  /** Runs on each connection before its first write: of requests automatically, of sessions by their owners. */
  readonly writerRegistration?: Sql;
  /** Schema in which Postgres looks up the tables of projections. */
  readonly searchPath?: string;
};

/** Numbers of sent statements and round trips. A test limits the statements of each request. */
export type StatementCounter = { statements: number; roundTrips: number };

/** A separate connection for work that holds locks or reads for a long time: followers, rebuild, verify. */
export type DatabaseSession = {
  run<T = DatabaseRow>(statement: Sql): Promise<T[]>;
  /** Runs all statements in order in one round trip: as one transaction, or as part of the open transaction. */
  pipeline(statements: readonly Sql[]): Promise<DatabaseRow[][]>;
  onNotification(listener: (payload: string) => void): void;
  close(): Promise<void>;
};

// Each connection prepares a statement once, under a name derived from its text.
const names = new Map<string, string>();
/**
 * The code contains some hundred texts. Beyond this number the map is cleared, so that it cannot grow without limit.
 */
const MAX_STATEMENT_NAMES = 5_000;
const nameOf = (text: string): string => {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha1').update(text).digest('base64url');
    if (names.size >= MAX_STATEMENT_NAMES) names.clear();
    names.set(text, name);
  }
  return name;
};

/** Postgres replaces an unnamed statement with the next unnamed one. */
const toPreparedStatement = (statement: Sql): PreparedStatement => {
  const { text, values } = compileStatement(statement);
  return { name: statement.isPrepared ? nameOf(text) : '', text, values };
};

/** The socket of a client, which pg's type declarations omit. */
type ClientWithSocket = { readonly connection: { readonly stream: Socket } };

const corked = new WeakSet<Socket>();

/**
 * Buffers writes until the current turn of the event loop ends. The statements of a transaction, and those of all
 * requests that arrived together, then leave in one system call. Without it, the gateway spends a sixth of its time in
 * `writev`.
 */
const corkForThisTick = (client: pg.Client): void => {
  const { stream } = (client as unknown as ClientWithSocket).connection;
  if (corked.has(stream)) return;
  corked.add(stream);
  stream.cork();
  setImmediate(() => {
    corked.delete(stream);
    stream.uncork();
  });
};

const send = (client: pg.Client, statements: readonly Sql[]): Promise<DatabaseRow[][]> =>
  new Promise((resolve, reject) => {
    corkForThisTick(client);
    client.query(new PipelinedQuery(statements.map(toPreparedStatement), rowTypes, resolve, reject));
  });

// Limits for requests, in milliseconds. Followers, rebuild and verify use sessions, which have no such limits.
const LOCK_TIMEOUT_MS = 5_000;
const WRITE_TIMEOUT_MS = 15_000;
const READ_TIMEOUT_MS = 5_000;
const SLOW_READ_TIMEOUT_MS = 15_000;
/** Added to the statement's own limit for the network and for earlier statements on the connection. */
const CLIENT_TIMEOUT_MARGIN_MS = 5_000;
const MAX_RETRIES = 3;

/** For statements that read the rows of several requests. */
const KEYED_CONNECTIONS = 2;
/** The second connection is for groups of other organizations while a group waits for rows. */
const GROUP_CONNECTIONS = 2;
/** Writes share fewer connections than reads: each write waits for the disk, and Postgres commits writes in groups. */
const WRITE_CONNECTIONS = 2;
/** A transaction with this number of statements takes long. Short transactions must not wait behind it. */
const LONG_TRANSACTION = 50;
const LONG_WRITE_CONNECTIONS = 1;

type StatementLimits = Pick<pg.ClientConfig, 'lock_timeout' | 'statement_timeout' | 'query_timeout' | 'options'>;

/**
 * Limits the server resources of one statement of a request, whatever the server's configuration allows: memory for a
 * sort or a hash, and one processor. Compiling a statement takes longer than most statements run.
 */
const ONE_STATEMENT = '-c work_mem=8MB -c max_parallel_workers_per_gather=0 -c jit=off';

const buildStatementLimits = (statementMs: number, options = ''): StatementLimits => ({
  lock_timeout: LOCK_TIMEOUT_MS,
  statement_timeout: statementMs,
  query_timeout: statementMs + CLIENT_TIMEOUT_MARGIN_MS,
  options: `${ONE_STATEMENT} ${options}`,
});

/**
 * By default Postgres assumes that a random page read costs four times a sequential one, as on rotating disks. It would
 * then read the complete table of many organizations rather than half of an index, even for the smallest organization.
 */
const INDEXES_FIRST = '-c random_page_cost=1.1';

/**
 * Statements of several requests find rows by an array of keys. Postgres would plan them again for each call, because the
 * array may be shorter than it assumes; planning takes several times as long as the statement.
 */
const ONE_PLAN = '-c plan_cache_mode=force_generic_plan';

/** A connection that pipelines the statements of many requests. */
class SharedConnection {
  pending = 0;
  isOpen = false;
  private client: Promise<pg.Client> | null = null;
  private closed = false;

  constructor(
    private readonly connect: (onEnd: () => void) => Promise<pg.Client>,
    private readonly delays: RecentDelays,
  ) {}

  /**
   * Runs all statements as one transaction. No other statement runs in between, so the transaction needs no connection
   * of its own.
   */
  async pipeline(statements: readonly Sql[]): Promise<DatabaseRow[][]> {
    this.pending += 1;
    const opened = this.connected();
    try {
      const client = await opened;
      const sentAt = performance.now();
      const rows = await send(client, statements);
      this.delays.add(performance.now() - sentAt);
      return rows;
    } catch (error) {
      // Postgres ends the connection, but its process may need some time for that. Later statements would fail too.
      if (isFatalError(error)) this.forget(opened);
      throw error;
    } finally {
      this.pending -= 1;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    // A connection that could not be opened needs no close.
    const client = await this.client?.catch(() => null);
    await client?.end();
  }

  private connected(): Promise<pg.Client> {
    if (this.closed) return Promise.reject(new Error('the database has been closed'));
    if (this.client) return this.client;
    const forget = (): void => this.forget(opened);
    const opened = this.connect(forget);
    this.client = opened;
    opened.then(() => (this.isOpen = this.client === opened), forget);
    return opened;
  }

  /** A connection reports its end more than once. By then `client` may be a newer connection, which must stay. */
  private forget(opened: Promise<pg.Client>): void {
    if (this.client !== opened) return;
    this.client = null;
    this.isOpen = false;
  }
}

const RETRY_AFTER_SECONDS = 5;

const createStatementTimeoutRefusal = (ms: number): Refusal =>
  unavailable(
    `The database did not answer within ${ms / 1_000} s, and the request was stopped. ` +
      'Ask for less at once, such as a smaller page or fewer filters, or try again later.',
    RETRY_AFTER_SECONDS,
  );

const toCallersError = (error: unknown, limitMs: number): unknown => {
  if (isStatementTimeout(error)) return createStatementTimeoutRefusal(limitMs);
  if (isOutage(error)) return unavailable('The database is not available at the moment. Please try again.', 1);
  return error;
};

const findLeastBusy = (connections: readonly SharedConnection[]): SharedConnection =>
  connections.reduce((best, next) => (next.pending < best.pending ? next : best));

/** The failure of a transaction that several appends share. */
export class FailedGroupError extends Error {
  override readonly name = 'FailedGroupError';

  constructor(
    /** The error for callers. */
    readonly error: unknown,
    /** The error of Postgres. */
    override readonly cause: unknown,
    /** See getRefusedStatement. */
    readonly statement: number | null,
  ) {
    super('A transaction of several appends failed', { cause });
  }
}

/**
 * Postgres over a few pipelined connections that all requests share: each statement is sent at once, without waiting
 * for earlier responses. Reads, writes and long writes have separate connections, so that none waits behind another
 * kind. Statements that a caller can make slow (`slowRows`) run on further connections, with a limit for each caller.
 */
export class Database {
  readonly count: StatementCounter = { statements: 0, roundTrips: 0 };
  /** Times from the sending of statements to their responses: queues in this process and in Postgres included. */
  readonly readDelays = new RecentDelays();
  readonly writeDelays = new RecentDelays();
  readonly searchPath: string;
  private readonly readMs: number;
  private readonly slowReadMs: number;
  private readonly reads: readonly SharedConnection[];
  private readonly writes: readonly SharedConnection[];
  private readonly longWrites: readonly SharedConnection[];
  private readonly groups: readonly SharedConnection[];
  private readonly slowReads: readonly SharedConnection[];
  private readonly slow: SlowStatements<SharedConnection>;
  private readonly keyedReads: readonly SharedConnection[];
  private readonly keyed = new KeyedReads(async (statement, sharing) => {
    const connection = findLeastBusy(this.keyedReads);
    return (await this.traced([statement], () => this.sent([statement], connection, this.readMs), sharing))[0] ?? [];
  });

  constructor(private readonly options: DatabaseOptions) {
    const { readTimeoutMs = READ_TIMEOUT_MS, slowReadTimeoutMs = SLOW_READ_TIMEOUT_MS, slow: overrides = {} } = options;
    const slow = { ...SLOW_LIMITS, ...overrides };
    this.searchPath = options.searchPath ?? 'views';
    const connections = (
      count: number,
      statementMs: number,
      {
        setup,
        delays = new RecentDelays(),
        plans = '',
      }: { readonly setup?: Sql | undefined; readonly delays?: RecentDelays; readonly plans?: string } = {},
    ): readonly SharedConnection[] => {
      const limits = buildStatementLimits(statementMs, plans);
      return Array.from(
        { length: count },
        () => new SharedConnection((onEnd) => this.connect(onEnd, limits, setup), delays),
      );
    };
    const setup = options.writerRegistration;
    this.readMs = readTimeoutMs;
    this.slowReadMs = slowReadTimeoutMs;
    this.reads = connections(options.connections, readTimeoutMs, { delays: this.readDelays });
    this.keyedReads = connections(KEYED_CONNECTIONS, readTimeoutMs, { delays: this.readDelays, plans: ONE_PLAN });
    this.writes = connections(WRITE_CONNECTIONS, WRITE_TIMEOUT_MS, { setup, delays: this.writeDelays });
    this.longWrites = connections(LONG_WRITE_CONNECTIONS, WRITE_TIMEOUT_MS, { setup });
    // The queue of appends reports their delays, which contain the time before their group is sent.
    this.groups = connections(GROUP_CONNECTIONS, WRITE_TIMEOUT_MS, { setup, plans: ONE_PLAN });
    this.slowReads = connections(slow.connections, slowReadTimeoutMs);
    this.slow = new SlowStatements(this.slowReads, slow);
  }

  async rows<T = DatabaseRow>(statement: Sql): Promise<T[]> {
    const cast = rowCasts.create<T>();
    const [rows = []] = await this.traced([statement], () =>
      this.sent([statement], findLeastBusy(this.reads), this.readMs),
    );
    return cast(rows);
  }

  async row<T = DatabaseRow>(statement: Sql): Promise<T | undefined> {
    return (await this.rows<T>(statement))[0];
  }

  /** Like `row`. Queries that arise in the same turn of the event loop and differ only in the key share a statement. */
  async keyedRow<T = DatabaseRow>(query: KeyedQuery): Promise<T | undefined> {
    const cast = rowCasts.create<T>();
    return cast(await this.keyed.rows(query))[0];
  }

  /**
   * Like `rows`, for a statement whose cost grows with the data of an organization: a list with its count, a search, a
   * filter. It does not use the shared connections, and each caller has a limit of such statements.
   */
  async slowRows<T = DatabaseRow>(caller: { readonly id: string }, statement: Sql): Promise<T[]> {
    const cast = rowCasts.create<T>();
    const [rows = []] = await this.traced([statement], () =>
      this.slow.run(caller.id, (connection) => this.sent([statement], connection, this.slowReadMs)),
    );
    return cast(rows);
  }

  /**
   * Runs the statements as one transaction in one round trip. Resolves after the commit to the rows of each statement.
   */
  transaction(statements: readonly Sql[]): Promise<DatabaseRow[][]> {
    const connections = statements.length < LONG_TRANSACTION ? this.writes : this.longWrites;
    return this.traced(statements, () => this.sent(statements, findLeastBusy(connections), WRITE_TIMEOUT_MS));
  }

  /** Like `transaction`, for the appends of several requests. Rejects with FailedGroupError. */
  group(statements: readonly Sql[], sharing: StatementSharing): Promise<DatabaseRow[][]> {
    const send = () => this.sentUnmapped(statements, findLeastBusy(this.groups));
    return this.traced(statements, send, sharing).catch((cause: unknown) => {
      throw new FailedGroupError(toCallersError(cause, WRITE_TIMEOUT_MS), cause, getRefusedStatement(cause));
    });
  }

  reportLoad(): void {
    const { reads, keyedReads, writes, longWrites, groups, slowReads } = this;
    const pools = { reads, keyedReads, writes, longWrites, groups, slowReads };
    for (const [pool, connections] of Object.entries(pools)) {
      const open = connections.filter(({ isOpen }) => isOpen).length;
      databaseMetrics.connections.set({ pool, state: 'open' }, open);
      databaseMetrics.connections.set({ pool, state: 'closed' }, connections.length - open);
      const unanswered = connections.reduce((sum, { pending }) => sum + pending, 0);
      databaseMetrics.waiting.set({ pool }, unanswered + (pool === 'slowReads' ? this.slow.waiting : 0));
    }
  }

  /** Sessions that write views run it first; null: writers are not registered. */
  get writerRegistration(): Sql | null {
    return this.options.writerRegistration ?? null;
  }

  async session(onEnd: () => void = () => undefined): Promise<DatabaseSession> {
    const client = await this.connect(onEnd);
    return {
      run: async <T>(statement: Sql) => {
        const cast = rowCasts.create<T>();
        const [rows = []] = await send(client, [statement]);
        return cast(rows);
      },
      pipeline: (statements) => send(client, statements),
      onNotification: (listener) => void client.on('notification', ({ payload }) => listener(payload ?? '')),
      close: () => client.end(),
    };
  }

  async close(): Promise<void> {
    const { reads, keyedReads, writes, longWrites, groups, slowReads } = this;
    const connections = [reads, keyedReads, writes, longWrites, groups, slowReads].flat();
    await Promise.all(connections.map((connection) => connection.close()));
  }

  /** Counts the statements, and records a span in the traces of the requests that they belong to. */
  private traced<T>(
    statements: readonly Sql[],
    work: () => Promise<T>,
    sharing: StatementSharing = { traces: listActiveTraces(), requests: 1 },
  ): Promise<T> {
    return traceStatements(statements, sharing, () => this.counted(statements, work));
  }

  private counted<T>(statements: readonly Sql[], work: () => Promise<T>): Promise<T> {
    this.count.statements += statements.length;
    this.count.roundTrips += 1;
    return work();
  }

  private async sent(
    statements: readonly Sql[],
    connection: SharedConnection,
    limitMs: number,
  ): Promise<DatabaseRow[][]> {
    try {
      return await this.sentUnmapped(statements, connection);
    } catch (error) {
      throw toCallersError(error, limitMs);
    }
  }

  private async sentUnmapped(
    statements: readonly Sql[],
    connection: SharedConnection,
    repeats = MAX_RETRIES,
  ): Promise<DatabaseRow[][]> {
    try {
      return await connection.pipeline(statements);
    } catch (error) {
      // A statement whose first use was part of a failed transaction is not prepared, although later uses rely on it or
      // prepare it again. Postgres changed nothing (the transaction was rolled back), so the statements are sent again.
      if (repeats === 0 || !isPreparedStatementError(error)) throw error;
      return this.counted(statements, () => this.sentUnmapped(statements, connection, repeats - 1));
    }
  }

  private async connect(
    onEnd: () => void,
    { options = '', ...limits }: StatementLimits = {},
    setup?: Sql,
  ): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.options.url,
      application_name: this.options.applicationName,
      types: rowTypes,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      pipeline: true,
      ...limits,
      options: `-c search_path=${this.searchPath} -c timezone=UTC ${INDEXES_FIRST} ${options}`,
    });
    // Every query on a broken connection fails with the error. Here the connection only has to be replaced.
    client.on('error', onEnd);
    client.on('end', onEnd);
    await client.connect();
    if (setup) {
      await send(client, [setup]).catch(async (error: unknown) => {
        await client.end();
        throw error;
      });
    }
    return client;
  }
}
