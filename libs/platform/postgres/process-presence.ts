import { sql, type Sql } from '#platform/kernel';
import type { Connector } from './connector.js';
import { RecentDelays } from './recent-delays.js';
import { SharedConnection } from './shared-connection.js';

const HEARTBEAT_MS = 3_000;
const TIMEOUT_MS = 5_000;

/**
 * The direct connection of a process whose statements go through a connection pooler. Its name in Postgres says which keys
 * the process has, and its session holds the lock of the versions of views that the process writes: sessions of the pooler
 * belong to no process.
 *
 * If the connection is lost, writes wait for a new one. A heartbeat replaces a connection that does not answer.
 */
export class ProcessPresence {
  readonly connection: SharedConnection;
  private readonly heartbeat: NodeJS.Timeout;

  constructor(connector: Connector, setup: Sql | undefined) {
    this.connection = new SharedConnection({
      connect: async (onEnd) => ({ client: await connector.connectDirectly(onEnd, setup) }),
      delays: new RecentDelays(),
    });
    this.heartbeat = setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    await this.connection.close();
  }

  private async beat(): Promise<void> {
    if (this.connection.pending > 0) return;
    const timer = setTimeout(() => void this.connection.destroy(), TIMEOUT_MS).unref();
    // Writes report the outage.
    await this.connection.pipeline([sql`select`]).catch(() => undefined);
    clearTimeout(timer);
  }
}
