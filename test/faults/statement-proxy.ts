import net, { type AddressInfo, type Socket } from 'node:net';

/** A point in the work of a process: before Postgres gets a statement, or after Postgres has committed it. */
export type StatementPoint = { readonly side: 'before' | 'after'; readonly statement: RegExp };

/** Stands between a process and Postgres, and stops what passes at a statement. */
export type StatementProxy = {
  /** The address of the database through the proxy. */
  readonly url: string;
  /** Stops all connections when one reaches the point, and then calls back. Null stops nothing. */
  stopAt(point: StatementPoint | null, onStop?: () => void): void;
  close(): Promise<void>;
};

/** A statement is parsed once on each connection, so a process that has just started sends its text. */
const RECENT_MAX = 100_000;
/** ReadyForQuery outside of a transaction: what was sent is committed. */
const IDLE = Buffer.from('Z\0\0\0\x05I', 'latin1');

type Stop = { readonly point: StatementPoint; readonly onStop: () => void };

class ProxiedConnection {
  private recentText = '';
  private isReached = false;
  /** The last bytes of Postgres: an answer can arrive in several chunks. */
  private ending: Buffer = Buffer.alloc(0);

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly getStop: () => Stop | null,
    private readonly stopAll: (stop: Stop) => void,
  ) {
    client.on('data', (bytes) => this.send(bytes)).once('close', () => server.destroy());
    server.on('data', (bytes) => this.answer(bytes)).once('close', () => client.destroy());
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
  }

  destroy(): void {
    this.client.destroy();
    this.server.destroy();
  }

  private send(bytes: Buffer): void {
    const stop = this.getStop();
    this.recentText = (this.recentText + bytes.toString('latin1')).slice(-RECENT_MAX);
    if (stop?.point.statement.test(this.recentText)) {
      this.recentText = '';
      if (stop.point.side === 'before') return this.stopAll(stop);
      this.isReached = true;
    }
    this.server.write(bytes);
  }

  private answer(bytes: Buffer): void {
    const stop = this.getStop();
    this.ending = Buffer.concat([this.ending, bytes.subarray(-IDLE.length)]).subarray(-IDLE.length);
    if (stop && this.isReached && this.ending.equals(IDLE)) return this.stopAll(stop);
    this.client.write(bytes);
  }
}

/** `databaseUrl` is the address of Postgres, on TCP and without TLS. */
export const startStatementProxy = async (databaseUrl: string): Promise<StatementProxy> => {
  const target = new URL(databaseUrl);
  const connections = new Set<ProxiedConnection>();
  let stop: Stop | null = null;
  const stopAll = (reached: Stop): void => {
    if (stop !== reached) return;
    stop = null;
    for (const connection of connections) connection.destroy();
    reached.onStop();
  };
  const server = net.createServer((client) => {
    const postgres = net.connect({ host: target.hostname, port: Number(target.port) });
    const connection = new ProxiedConnection(client, postgres, () => stop, stopAll);
    connections.add(connection);
    client.once('close', () => connections.delete(connection));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    stopAt: (point, onStop = () => undefined) => (stop = point && { point, onStop }),
    close: async () => {
      for (const connection of connections) connection.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
