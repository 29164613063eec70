import { unavailable, type Refusal, type Sql } from '#platform/kernel';
import { ONE_PLAN } from './connection-settings.js';
import { Connector, type ConnectionKind } from './connector.js';
import { getRefusedStatement } from './pipelined-query.js';
import { databaseMetrics } from './postgres.metrics.js';
import { isOutage, isPreparedStatementError, isStatementTimeout } from './postgres-errors.js';
import { ProcessPresence } from './process-presence.js';
import { listRepeated } from './repeated-statements.js';
import { sendStatements } from './send-statements.js';
import { SharedConnection } from './shared-connection.js';
import { listActiveTraces, traceStatements, type StatementSharing } from './statement-spans.js';
import { RecentDelays } from './recent-delays.js';
import type { KeyedQuery } from './keyed-queries.js';
import { KeyedReads } from './keyed-reads.js';
import { rowCasts, type DatabaseRow } from './database-row.js';
import { SLOW_LIMITS, SlowStatements, type SlowLimits } from './slow-statements.js';

export type DatabaseOptions = {
  /** Address of Postgres, or of a pooler that gives each connection a session of its own. */
  readonly url: string;
  /**
   * Address of a pooler that may run each transaction in another session. All statements except those of sessions then
   * use it (ADR 110).
   */
  readonly poolerUrl?: string | null;
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

// Limits for requests, in milliseconds. Followers, rebuild and verify use sessions, which have no such limits.
const WRITE_TIMEOUT_MS = 15_000;
const READ_TIMEOUT_MS = 5_000;
const SLOW_READ_TIMEOUT_MS = 15_000;
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
  private readonly connector: Connector;
  private readonly presence: ProcessPresence | null;
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
    this.connector = new Connector({ ...options, searchPath: this.searchPath });
    const setup = options.writerRegistration;
    this.presence = options.poolerUrl ? new ProcessPresence(this.connector, setup) : null;
    const requires = this.presence?.connection ?? null;
    const connections = (
      count: number,
      { delays = new RecentDelays(), ...kind }: ConnectionKind & { readonly delays?: RecentDelays },
    ): readonly SharedConnection[] => {
      const connect = (onEnd: () => void) => this.connector.connect(onEnd, kind);
      return Array.from(
        { length: count },
        () => new SharedConnection({ connect, delays, requires: kind.setup ? requires : null }),
      );
    };
    this.readMs = readTimeoutMs;
    this.slowReadMs = slowReadTimeoutMs;
    const reads = { statementMs: readTimeoutMs, delays: this.readDelays };
    const writes = { statementMs: WRITE_TIMEOUT_MS, ...(setup ? { setup } : {}) };
    this.reads = connections(options.connections, reads);
    this.keyedReads = connections(KEYED_CONNECTIONS, { ...reads, settings: ONE_PLAN });
    this.writes = connections(WRITE_CONNECTIONS, { ...writes, delays: this.writeDelays });
    this.longWrites = connections(LONG_WRITE_CONNECTIONS, writes);
    // The queue of appends reports their delays, which contain the time before their group is sent.
    this.groups = connections(GROUP_CONNECTIONS, { ...writes, settings: ONE_PLAN });
    this.slowReads = connections(slow.connections, { statementMs: slowReadTimeoutMs });
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

  /** Opens a connection for reads of requests. Rejects with the error of Postgres. */
  async connected(): Promise<void> {
    await findLeastBusy(this.reads).connected();
  }

  /** Whether statements of requests go through a connection pooler. */
  get isPooled(): boolean {
    return Boolean(this.options.poolerUrl);
  }

  /** Sessions that write views run it first; null: writers are not registered. */
  get writerRegistration(): Sql | null {
    return this.options.writerRegistration ?? null;
  }

  async session(onEnd: () => void = () => undefined): Promise<DatabaseSession> {
    const client = await this.connector.connectDirectly(onEnd);
    return {
      run: async <T>(statement: Sql) => {
        const cast = rowCasts.create<T>();
        const [rows = []] = await sendStatements(client, [statement]);
        return cast(rows);
      },
      pipeline: (statements) => sendStatements(client, statements),
      onNotification: (listener) => void client.on('notification', ({ payload }) => listener(payload ?? '')),
      close: () => client.end(),
    };
  }

  async close(): Promise<void> {
    const { reads, keyedReads, writes, longWrites, groups, slowReads } = this;
    const connections = [reads, keyedReads, writes, longWrites, groups, slowReads].flat();
    await Promise.all(connections.map((connection) => connection.close()));
    await this.presence?.close();
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
      const again = listRepeated(statements, error, this.isPooled);
      return this.counted(again, () => this.sentUnmapped(again, connection, repeats - 1));
    }
  }
}
