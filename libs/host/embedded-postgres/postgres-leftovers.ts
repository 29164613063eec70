import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readFileOrNull } from '../machine/atomic-file.js';
import type { PlainLogger } from '../logging/logger.js';
import type { PostgresCluster } from './postgres-cluster.js';
import { isAlive, sendSignal } from '../machine/signals.js';
import { getErrorCode } from '#kernel';

type PostgresProcess = { readonly pid: number; readonly command: string };

const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 10;

/**
 * Ends what is left of this cluster's Postgres after we, or its main process, were killed.
 *
 * The processes are looked for by the cluster's name in their command line, and not by postmaster.pid alone: the number
 * there may be another program's by now, and workers whose main process was killed live on for a moment, during which
 * a new Postgres refuses to start. We hold the data folder, so whatever is found is nobody else's.
 */
export const stopLeftoverProcesses = async (cluster: PostgresCluster, logger: PlainLogger): Promise<void> => {
  const pidFile = join(cluster.folder, 'postmaster.pid');
  const pid = Number.parseInt((await readFileOrNull(pidFile)) ?? '', 10);
  // A clean stop removes the file as its last act.
  if (Number.isNaN(pid)) return;
  let left = await listProcesses(cluster);
  if (left.length > 0) logger.warn(`stopping the Postgres that an earlier run has left (${formatPids(left)})`);
  signalMain(left, 'SIGINT');
  left = await waitUntilGone(cluster, FAST_SHUTDOWN_MS);
  signalMain(left, 'SIGQUIT');
  left = await waitUntilGone(cluster, IMMEDIATE_SHUTDOWN_MS);
  if (left.length > 0)
    throw new Error(`Postgres of an earlier run does not end: end its processes (${formatPids(left)})`);
  await removeSocketLocks(cluster);
  // Postgres would take a stranger that has the number by now for its predecessor. Otherwise the file stays: it is how
  // Postgres makes sure once more, by its shared memory, that nobody is left.
  if (isAlive(pid)) await rm(pidFile, { force: true });
};

/**
 * Beside each socket lies the number of the process that listened there. Postgres does not start while that number is
 * somebody's, be it a stranger's or that of the dead one, who is a zombie for ever where process 1 reaps nobody, as in
 * many containers. The sockets lie in the cluster's own folder: with nobody left, the files guard nothing.
 */
const removeSocketLocks = async ({ folder }: PostgresCluster): Promise<void> => {
  const locks = (await readdir(folder)).filter((name) => /^\.s\.PGSQL\.\d+\.lock$/.test(name));
  await Promise.all(locks.map((name) => rm(join(folder, name), { force: true })));
};

const formatPids = (processes: readonly PostgresProcess[]): string => processes.map(({ pid }) => pid).join(', ');

// Workers end with their main process, of their own accord when it was killed.
const signalMain = (processes: readonly PostgresProcess[], signal: NodeJS.Signals): void => {
  for (const { pid, command } of processes) if (!command.startsWith('postgres:')) sendSignal(pid, signal);
};

/** Those who are still there when the time is over. */
const waitUntilGone = async (cluster: PostgresCluster, milliseconds: number): Promise<readonly PostgresProcess[]> => {
  const end = Date.now() + milliseconds;
  let left = await listProcesses(cluster);
  while (left.length > 0 && Date.now() < end) {
    await delay(POLL_MS);
    left = await listProcesses(cluster);
  }
  return left;
};

const listProcesses = async ({ name }: PostgresCluster): Promise<readonly PostgresProcess[]> => {
  const all = process.platform === 'linux' ? await fromProc() : await fromPs();
  return all.filter(({ command }) => isWorker(command, name) || isMain(command, name));
};

// By the name of the program and not its path: an upgrade may have moved that since.
const isMain = (command: string, name: string): boolean =>
  /^\S.*\/postgres /.test(command) && command.includes(`cluster_name=${name}`);

const isWorker = (command: string, name: string): boolean => command.startsWith(`postgres: ${name}`);

/** Small images have no `ps`. A zombie's command line is empty, so it counts as gone, whoever forgot to reap it. */
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
    // It ended between the listing and the reading.
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
