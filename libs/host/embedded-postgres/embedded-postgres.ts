import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PlainLogger } from '../logging/logger.js';
import { DATABASE, openCluster, USER, type PostgresCluster } from './postgres-cluster.js';
import { stopLeftoverProcesses } from './postgres-leftovers.js';
import { PortTakenError, startServer, type ProcessExit, type PostgresServerProcess } from './postgres-server.js';
import { Backoff, getErrorCode, type BackoffOptions } from '#kernel';

/**
 * A Postgres of our own, from start to stop:
 *
 *   starting ─► running ─► stopped          stop(): fast shutdown, clients are disconnected
 *       ▲          │
 *       └─ back-off ◄ it died               `onExit` is told; url and port stay the same
 *
 * Our signals stop nothing here: whoever started it stops it, after everything that uses it.
 */
export type EmbeddedPostgres = {
  /** Over TCP, on 127.0.0.1. */
  readonly url: string;
  /** Over the socket in its folder, somewhat faster; null where that path is too long for a socket's. */
  readonly socketUrl: string | null;
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  /** Ours alone: the caller holds the data folder that it lies in (data-folder.ts). */
  readonly folder: string;
  readonly logger: PlainLogger;
  /** Postgres ended and nobody had asked it to. It is started again after so many milliseconds. */
  readonly onExit?: (exit: ProcessExit & { readonly restartIn: number }) => void;
};

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
// Up for this long, and the next death is a new story.
const STABLE_MS = 60_000;
// Then in a hurry: Postgres recovers from its WAL at the next start, and loses nothing.
const STOP_MS = 30_000;
// 107 bytes on Linux, 103 on macOS.
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

  /** The port on which it is ready. */
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
    // During a back-off there is none, and during a restart one that is not ready yet: it obeys as well.
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
      // Between our look and Postgres' somebody else was faster.
      if (!(error instanceof PortTakenError) || attempts <= 1) throw error;
      return this.startOnFreePort(attempts - 1);
    }
  }

  private async run(port: number): Promise<PostgresServerProcess> {
    const server = startServer(this.cluster, port, this.options.logger);
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

  /** Resolves when Postgres runs again, or when it is to stop. */
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

  /** False when we are stopping. */
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

/** Puts the fields of a failure into its text: a plain logger takes nothing else. */
const withDetails = (logger: PlainLogger): BackoffOptions['logger'] => ({
  info: (_, text) => logger.info(text),
  warn: (fields, text) => {
    const { err, retryInMs } = fields as { readonly err: unknown; readonly retryInMs: number };
    logger.error(`${text} in ${retryInMs} ms: ${err instanceof Error ? err.message : String(err)}`);
  },
});

/**
 * The same port at each start if it can be had, so that tools find the database again; above the registered services
 * and below the ports that systems give to outgoing connections, one of which could take ours while Postgres restarts.
 */
const findFreePort = async (name: string): Promise<number> => {
  const first = createHash('sha256').update(name).digest().readUInt32BE() % 10_000;
  for (let step = 0; step < 100; step += 1) {
    const port = 20_000 + ((first + step) % 10_000);
    if (await canListen(port)) return port;
  }
  throw new Error('no free port for Postgres: a hundred of those between 20000 and 29999 are taken');
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
