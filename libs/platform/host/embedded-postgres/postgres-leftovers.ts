import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readFileOrNull } from '../machine/atomic-file.js';
import type { PlainLogger } from '../logging/logger.js';
import type { PostgresCluster } from './postgres-cluster.js';
import { isAlive, sendSignal } from '../machine/signals.js';
import { getErrorCode } from '#platform/kernel';

type PostgresProcess = { readonly pid: number; readonly command: string };

const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 10;

/**
 * Stops Postgres processes of this cluster that are still running after this process or their main process was killed.
 *
 * Processes are found by the cluster's name in their command line, not only by postmaster.pid. Another program may have
 * that process id by now, and workers live for a moment after their main process was killed, while a new Postgres would
 * refuse to start. This process holds the lock of the data folder, so these processes belong to nobody else.
 */
export const stopLeftoverProcesses = async (cluster: PostgresCluster, logger: PlainLogger): Promise<void> => {
  const pidFile = join(cluster.folder, 'postmaster.pid');
  const pid = Number.parseInt((await readFileOrNull(pidFile)) ?? '', 10);
  // Postgres removes the file as the last step of an orderly shutdown.
  if (Number.isNaN(pid)) return;
  let remaining = await listProcesses(cluster);
  if (remaining.length > 0) logger.warn(`stopping Postgres processes of an earlier run (${formatPids(remaining)})`);
  signalMain(remaining, 'SIGINT');
  remaining = await waitForExits(cluster, FAST_SHUTDOWN_MS);
  signalMain(remaining, 'SIGQUIT');
  remaining = await waitForExits(cluster, IMMEDIATE_SHUTDOWN_MS);
  if (remaining.length > 0)
    throw new Error(`Postgres processes of an earlier run do not stop: end them (${formatPids(remaining)})`);
  await removeSocketLocks(cluster);
  // If another program has this process id by now, Postgres would take it for its predecessor. Otherwise the file
  // stays, because Postgres uses it for its own check of shared memory.
  if (isAlive(pid)) await rm(pidFile, { force: true });
};

/**
 * Removes the lock files of sockets. Each contains the id of the process that listened. Postgres does not start while a
 * process with this id exists, be it another program or the dead process, which stays a zombie if process 1 reaps no
 * children, as in many containers. The sockets are in the cluster's own folder and no process is left, so the lock
 * files protect nothing.
 */
const removeSocketLocks = async ({ folder }: PostgresCluster): Promise<void> => {
  const locks = (await readdir(folder)).filter((name) => /^\.s\.PGSQL\.\d+\.lock$/.test(name));
  await Promise.all(locks.map((name) => rm(join(folder, name), { force: true })));
};

const formatPids = (processes: readonly PostgresProcess[]): string => processes.map(({ pid }) => pid).join(', ');

// Workers end when their main process ends.
const signalMain = (processes: readonly PostgresProcess[], signal: NodeJS.Signals): void => {
  for (const { pid, command } of processes) if (!command.startsWith('postgres:')) sendSignal(pid, signal);
};

/** Returns the processes that still run after the time. */
const waitForExits = async (cluster: PostgresCluster, milliseconds: number): Promise<readonly PostgresProcess[]> => {
  const end = Date.now() + milliseconds;
  let remaining = await listProcesses(cluster);
  while (remaining.length > 0 && Date.now() < end) {
    await delay(POLL_MS);
    remaining = await listProcesses(cluster);
  }
  return remaining;
};

const listProcesses = async ({ name }: PostgresCluster): Promise<readonly PostgresProcess[]> => {
  const all = process.platform === 'linux' ? await fromProc() : await fromPs();
  return all.filter(({ command }) => isWorker(command, name) || isMain(command, name));
};

// By the name of the program and not its path, which an upgrade may have changed.
const isMain = (command: string, name: string): boolean =>
  /^\S.*\/postgres /.test(command) && command.includes(`cluster_name=${name}`);

const isWorker = (command: string, name: string): boolean => command.startsWith(`postgres: ${name}`);

/**
 * Lists processes without `ps`, which small images lack. The command line of a zombie is empty, so a zombie counts as
 * ended.
 */
const fromProc = async (): Promise<readonly PostgresProcess[]> => {
  const numbers = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  return Promise.all(
    numbers.map(async (number) => ({
      pid: Number(number),
      command: ((await readCommandLine(number)) ?? '').replaceAll('\0', ' '),
    })),
  );
};

const readCommandLine = async (number: string): Promise<string | null> => {
  try {
    return await readFileOrNull(join('/proc', number, 'cmdline'));
  } catch (error) {
    // The process ended between listing and reading.
    if (getErrorCode(error) === 'ESRCH') return null;
    throw error;
  }
};

const fromPs = async (): Promise<readonly PostgresProcess[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command=']);
  return stdout.split('\n').map((line) => {
    const [, pid = '0', command = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return { pid: Number(pid), command };
  });
};
