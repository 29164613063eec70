import type pg from 'pg';
import type { Sql } from '#platform/kernel';
import type { DatabaseRow } from './database-row.js';
import { isFatalError } from './postgres-errors.js';
import type { RecentDelays } from './recent-delays.js';
import { destroyClient, sendStatements, type SendOptions } from './send-statements.js';

export type OpenConnection = { readonly client: pg.Client; readonly sending?: SendOptions };

type SharedConnectionOptions = {
  readonly connect: (onEnd: () => void) => Promise<OpenConnection>;
  readonly delays: RecentDelays;
  /** No statement is sent while this connection is not open. */
  readonly requires?: SharedConnection | null;
};

/** A connection that pipelines the statements of many requests. */
export class SharedConnection {
  pending = 0;
  isOpen = false;
  private connection: Promise<OpenConnection> | null = null;
  private closed = false;

  constructor(private readonly options: SharedConnectionOptions) {}

  /**
   * Runs all statements as one transaction. No other statement runs in between, so the transaction needs no connection
   * of its own.
   */
  async pipeline(statements: readonly Sql[]): Promise<DatabaseRow[][]> {
    const { requires, delays } = this.options;
    this.pending += 1;
    const opened = this.connected();
    try {
      const { client, sending } = await opened;
      if (requires) await requires.connected();
      const sentAt = performance.now();
      const rows = await sendStatements(client, statements, sending);
      delays.add(performance.now() - sentAt);
      return rows;
    } catch (error) {
      // Postgres ends the connection, but its process may need some time for that. Later statements would fail too.
      if (isFatalError(error)) this.forget(opened);
      throw error;
    } finally {
      this.pending -= 1;
    }
  }

  /** Opens the connection if it is not open. */
  connected(): Promise<OpenConnection> {
    if (this.closed) return Promise.reject(new Error('the database has been closed'));
    if (this.connection) return this.connection;
    const forget = (): void => this.forget(opened);
    const opened = this.options.connect(forget);
    this.connection = opened;
    opened.then(() => (this.isOpen = this.connection === opened), forget);
    return opened;
  }

  /** Ends a connection that does not answer. The next statement opens another one. */
  async destroy(): Promise<void> {
    const { connection } = this;
    if (connection) this.forget(connection);
    const open = await connection?.catch(() => null);
    if (open) destroyClient(open.client);
  }

  async close(): Promise<void> {
    this.closed = true;
    // A connection that could not be opened needs no close.
    const { client } = (await this.connection?.catch(() => null)) ?? {};
    await client?.end();
  }

  /** A connection reports its end more than once. By then `connection` may be a newer one, which must stay. */
  private forget(opened: Promise<OpenConnection>): void {
    if (this.connection !== opened) return;
    this.connection = null;
    this.isOpen = false;
  }
}
