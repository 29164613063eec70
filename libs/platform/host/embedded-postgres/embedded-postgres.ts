import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PlainLogger } from '../logging/logger.js';
import { DATABASE, openCluster, USER, type PostgresCluster } from './postgres-cluster.js';
import { stopLeftoverProcesses } from './postgres-leftovers.js';
import { PortTakenError, startServer, type ProcessExit, type PostgresServerProcess } from './postgres-server.js';
import { Backoff, getErrorCode, type BackoffOptions } from '#platform/kernel';

/**
 * A Postgres that this process starts and stops:
 *
 *   starting ─► running ─► stopped     stop() shuts down at once and disconnects clients
 *       ▲          │
 *       └─ pause ──┘                   if Postgres ends unexpectedly: onExit is called, URL and port stay the same
 *
 * Signals to this process do not stop Postgres. The caller stops it, after everything that uses it.
 */
export type EmbeddedPostgres = {
  /** Connection over TCP, on 127.0.0.1. */
  readonly url: string;
  /** Connection over the socket in its folder, which is somewhat faster; null if the path is too long for a socket. */
  readonly socketUrl: string | null;
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  /** Folder of the cluster. The caller must hold the lock of the data folder that contains it (data-folder.ts). */
  readonly folder: string;
  readonly logger: PlainLogger;
  /** Settings of Postgres that replace those of the product, for servers whose data nobody needs. */
  readonly serverSettings?: Readonly<Record<string, string>>;
  /** Called if Postgres ended without a call of `stop`. It is restarted after `restartIn` milliseconds. */
  readonly onExit?: (exit: ProcessExit & { readonly restartIn: number }) => void;
};

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
// After this uptime, the pauses start again at the first one.
const STABLE_MS = 60_000;
// After this time Postgres is stopped at once. It recovers from its WAL at the next start and loses nothing.
const STOP_MS = 30_000;
// The limit is 107 bytes on Linux and 103 on macOS.
const MAX_SOCKET_PATH_LENGTH = 103;

export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const cluster = await openCluster(options.folder);
  const supervisor = new Supervisor(cluster, options);
  const port = await supervisor.start();
  const credentials = `${USER}:${cluster.password}`;
  const socketPath = join(cluster.folder, `.s.PGSQL.${port}`);
  return {
    url: `postgresql://${credentials}@127.0.0.1:${port}/${DATABASE}`,
    socketUrl:
      Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_LENGTH
        ? null
        : `postgresql://${credentials}@localhost:${port}/${DATABASE}?host=${encodeURIComponent(cluster.folder)}`,
    stop: () => supervisor.stop(),
  };
};

class Supervisor {
  private server: PostgresServerProcess | null = null;
  private readonly stopping = new AbortController();
  private stopped: Promise<void> | null = null;
  private watching: Promise<void> = Promise.resolve();
  private readonly backoff: Backoff;

  constructor(
    private readonly cluster: PostgresCluster,
    private readonly options: EmbeddedPostgresOptions,
  ) {
    this.backoff = new Backoff({
      logger: withDetails(options.logger),
      subject: 'the embedded Postgres',
      firstMs: FIRST_PAUSE_MS,
      maxMs: MAX_PAUSE_MS,
      stableMs: STABLE_MS,
    });
  }

  /** Returns the port on which Postgres is ready. */
  async start(): Promise<number> {
    await stopLeftoverProcesses(this.cluster, this.options.logger);
    const port = await this.startOnFreePort(3);
    this.watching = this.restartUntilStopped(port);
    return port;
  }

  stop(): Promise<void> {
    this.stopped ??= this.end();
    return this.stopped;
  }

  private async end(): Promise<void> {
    this.stopping.abort();
    // During a pause there is no server. During a restart the server may not be ready yet, but it obeys the signal.
    this.server?.process.kill('SIGINT');
    const hurry = setTimeout(() => this.server?.process.kill('SIGQUIT'), STOP_MS);
    await this.watching;
    clearTimeout(hurry);
  }

  private async startOnFreePort(attempts: number): Promise<number> {
    const port = await findFreePort(this.cluster.name);
    try {
      await this.run(port);
      return port;
    } catch (error) {
      // Another process took the port after the check.
      if (!(error instanceof PortTakenError) || attempts <= 1) throw error;
      return this.startOnFreePort(attempts - 1);
    }
  }

  private async run(port: number): Promise<PostgresServerProcess> {
    const { logger, serverSettings } = this.options;
    const server = startServer(this.cluster, port, logger, serverSettings);
    this.server = server;
    await server.ready;
    return server;
  }

  private async restartUntilStopped(port: number): Promise<void> {
    while (this.server !== null) {
      const exit = await this.server.exited;
      this.server = null;
      if (this.stopping.signal.aborted) return;
      const restartIn = this.backoff.failed(new Error(`it ended with ${exit.signal ?? `exit code ${exit.code}`}`));
      this.options.onExit?.({ ...exit, restartIn });
      await this.restart(port, restartIn);
    }
  }

  /** Resolves when Postgres runs again, or after a stop. */
  private async restart(port: number, firstPause: number): Promise<void> {
    let pause = firstPause;
    while (await this.wait(pause)) {
      try {
        await stopLeftoverProcesses(this.cluster, this.options.logger);
        if (this.stopping.signal.aborted) return;
        await this.run(port);
        this.backoff.succeeded();
        return;
      } catch (error) {
        this.server = null;
        if (this.stopping.signal.aborted) return;
        pause = this.backoff.failed(error);
      }
    }
  }

  /** Returns false after a stop. */
  private async wait(milliseconds: number): Promise<boolean> {
    const { signal } = this.stopping;
    try {
      await delay(milliseconds, undefined, { signal });
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }
}

/** Adds the fields of a failure to the message, because a plain logger accepts only a message. */
const withDetails = (logger: PlainLogger): BackoffOptions['logger'] => ({
  info: (_, text) => logger.info(text),
  warn: (fields, text) => {
    const { err, retryInMs } = fields as { readonly err: unknown; readonly retryInMs: number };
    logger.error(`${text} in ${retryInMs} ms: ${err instanceof Error ? err.message : String(err)}`);
  },
});

/**
 * Returns the same port at each start if it is free, so that tools find the database again. The range is above the
 * registered services and below the ports for outgoing connections, which could take the port while Postgres restarts.
 */
const findFreePort = async (name: string): Promise<number> => {
  const first = createHash('sha256').update(name).digest().readUInt32BE() % 10_000;
  for (let step = 0; step < 100; step += 1) {
    const port = 20_000 + ((first + step) % 10_000);
    if (await canListen(port)) return port;
  }
  throw new Error('no free port for Postgres: 100 ports between 20000 and 29999 are in use');
};

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', (error) => {
      if (getErrorCode(error) === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    probe.listen({ port, host: '127.0.0.1' }, () => probe.close(() => resolve(true)));
  });
