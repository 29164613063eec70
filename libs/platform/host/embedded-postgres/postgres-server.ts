import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { PlainLogger } from '../logging/logger.js';
import { toPathForPostgres, runClusterProgram, type PostgresCluster } from './postgres-cluster.js';

export type ProcessExit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type PostgresServerProcess = {
  readonly process: ChildProcess;
  /** Resolves when it accepts connections. If it ends before, rejects with its last log lines. */
  readonly ready: Promise<void>;
  readonly exited: Promise<ProcessExit>;
};

/** Thrown if Postgres did not start because another process listens on the port. */
export class PortTakenError extends Error {}

const buildServerSettings = (cluster: PostgresCluster, port: number): Readonly<Record<string, string>> => ({
  cluster_name: cluster.name,
  listen_addresses: '127.0.0.1',
  port: String(port),
  // A path relative to the data folder always fits into the 107 bytes of a socket path.
  unix_socket_directories: '.',
  max_connections: '100',
  shared_buffers: '128MB',
  // An acknowledged write survives a power cut. These are Postgres' defaults, set here so that no file can change them.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_compression: 'on',
  // Fewer and longer checkpoints write fewer full pages. Recovery of 1 GB of WAL still takes seconds.
  checkpoint_timeout: '10min',
  checkpoint_completion_target: '0.9',
  min_wal_size: '80MB',
  max_wal_size: '1GB',
  // The statements are short: compiling one takes longer than running it.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  log_line_prefix: '',
  log_checkpoints: 'off',
  lc_messages: 'C',
  // Neither statements nor row values are logged, because both may contain secrets.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
});

/** Starts Postgres. `otherSettings` replace the default ones. */
export const startServer = (
  cluster: PostgresCluster,
  port: number,
  logger: PlainLogger,
  otherSettings: Readonly<Record<string, string>> = {},
): PostgresServerProcess => {
  const settings = { ...buildServerSettings(cluster, port), ...otherSettings };
  const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const child = runClusterProgram(
    cluster,
    cluster.binaries.postgres,
    ['-D', toPathForPostgres(cluster), ...flags],
    ['ignore', 'ignore', 'pipe'],
  );
  const endWatch = stopServerWithParent(child, logger);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.on('exit', (code, signal) => {
      endWatch();
      resolve({ code, signal });
    });
  });
  return { process: child, exited, ready: waitUntilReady(child, exited, logger) };
};

const waitUntilReady = (child: ChildProcess, exited: Promise<ProcessExit>, logger: PlainLogger): Promise<void> =>
  new Promise((resolve, reject) => {
    const lastWords: string[] = [];
    child.on('error', (error) => reject(new Error('Postgres could not be run', { cause: error })));
    const lines = child.stderr ? createInterface({ input: child.stderr }) : null;
    lines?.on('line', (line) => {
      forwardLogLine(line, logger);
      lastWords.push(line);
      if (lastWords.length > 20) lastWords.shift();
      // Postgres logs this at level LOG, which is never filtered, and in English, because the locale of messages is C.
      if (line.includes('database system is ready to accept connections')) resolve();
    });
    // The last log lines may arrive after the exit, so this waits for both.
    const closed = new Promise<void>((done) => {
      if (lines) lines.on('close', done);
      else done();
    });
    void Promise.all([exited, closed]).then(([{ code, signal }]) => {
      const words = lastWords.join('\n');
      const message = `Postgres ended before it was ready (${signal ?? `exit code ${code}`}):\n${words}`;
      reject(words.includes('Address already in use') ? new PortTakenError(message) : new Error(message));
    });
  });

const levels: Readonly<Record<string, keyof PlainLogger>> = {
  WARNING: 'warn',
  FATAL: 'warn',
  PANIC: 'error',
};

// ERROR is logged at debug: the sender of the statement gets the error, and a lost race for a unique name is no fault.
const forwardLogLine = (line: string, logger: PlainLogger): void => {
  const level = levels[/^([A-Z]+):/.exec(line)?.[1] ?? ''] ?? 'debug';
  logger[level](`postgres: ${line}`);
};

/**
 * Starts a shell that waits for the end of this process and then shuts Postgres down. The kernel closes the
 * shell's input, however this process ends. If the shell fails, the next start finds the remaining processes
 * (postgres-leftovers.ts).
 */
const stopServerWithParent = (server: ChildProcess, logger: PlainLogger): (() => void) => {
  if (server.pid === undefined) return () => undefined;
  const watch = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$1"', 'cadastre-watch', String(server.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  // Without the shell, Postgres only keeps running until the next start.
  watch.on('error', (error) => logger.warn(`Postgres will keep running if this process is killed: ${error.message}`));
  watch.unref();
  return () => {
    watch.kill('SIGKILL');
  };
};
