import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chown, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileOrNull, syncFolder } from '../machine/atomic-file.js';
import { readOrCreateSecret } from '../machine/data-folder.js';
import { findPostgresBinaries, findPostgresUser, type PostgresBinaries, type SystemUser } from './postgres-binaries.js';

/** A Postgres cluster on disk, with the programs and the user that run it. */
export type PostgresCluster = {
  readonly folder: string;
  /** Unique for the folder. Postgres shows it in the title of each of its processes. */
  readonly name: string;
  readonly password: string;
  readonly binaries: PostgresBinaries;
  readonly user: SystemUser;
};

export const USER = 'cadastre';
export const DATABASE = 'cadastre';

/** Opens the cluster in `folder`, and creates it at the first start. */
export const openCluster = async (folder: string): Promise<PostgresCluster> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const home = await realpath(folder);
  const user = await findPostgresUser();
  const cluster: PostgresCluster = {
    folder: join(home, 'cluster'),
    name: `cadastre-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`,
    password: await readOrCreateSecret(home, 'password', () => randomBytes(24).toString('base64url')),
    binaries: await findPostgresBinaries(user),
    user,
  };
  await removeDrafts(home);
  if ((await readFileOrNull(join(cluster.folder, 'PG_VERSION'))) === null) await makeCluster(cluster, home);
  else await changeOwner(cluster.folder, user);
  return cluster;
};

const DRAFT = 'initialising-';

const removeDrafts = async (home: string): Promise<void> => {
  const drafts = (await readdir(home)).filter((name) => name.startsWith(DRAFT));
  await Promise.all(drafts.map((name) => rm(join(home, name), { recursive: true })));
};

/**
 * Creates the cluster in a draft folder and then renames it: if the process is killed, it leaves a draft and never an
 * incomplete cluster.
 */
const makeCluster = async (cluster: PostgresCluster, home: string): Promise<void> => {
  const draft = { ...cluster, folder: join(home, `${DRAFT}${process.pid}`) };
  await mkdir(draft.folder, { mode: 0o700 });
  if (draft.user) await chown(draft.folder, draft.user.uid, draft.user.gid);
  await withInput(draft, home, `${cluster.password}\n`, (input) =>
    waitForExit(
      runClusterProgram(draft, draft.binaries.initdb, buildInitdbArguments(draft), [input, 'pipe', 'pipe']),
      'initdb could not make the database cluster',
    ),
  );
  // Postgres' single-user mode needs neither a connection nor a driver.
  await withInput(draft, home, `create database ${DATABASE}\n`, (input) =>
    waitForExit(
      runClusterProgram(
        draft,
        draft.binaries.postgres,
        ['--single', '-D', toPathForPostgres(draft), 'postgres'],
        [input, 'pipe', 'pipe'],
      ),
      'the database could not be created',
    ),
  );
  await rename(draft.folder, cluster.folder);
  await syncFolder(home);
};

// Postgres' own C.UTF-8 sorts the same on every machine, so no index breaks when the system's C library changes.
const buildInitdbArguments = (cluster: PostgresCluster): readonly string[] => [
  `--pgdata=${toPathForPostgres(cluster)}`,
  `--username=${USER}`,
  '--pwfile=/dev/fd/0',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/**
 * Returns the path of the cluster's folder for the arguments of Postgres.
 *
 * If this process is root, Postgres runs as another user, which may not enter the parent folders, such as /root or the
 * data folder (0700). Opening these folders would expose their other files, and data in another place would be missing
 * in backups. But Node changes to the working directory before it changes the user, and Linux lets a process stay in
 * its working directory. Through /proc/self/cwd, Postgres can use its folder without permission on the parents. This
 * works because Postgres stays in its data folder and uses relative paths for everything else.
 */
export const toPathForPostgres = ({ user, folder }: PostgresCluster): string =>
  user === null ? folder : '/proc/self/cwd';

/** Runs one of Postgres' programs in the cluster's folder, as the cluster's user. */
export const runClusterProgram = (
  cluster: PostgresCluster,
  program: string,
  args: readonly string[],
  stdio: StdioOptions,
): ChildProcess =>
  spawn(program, args, {
    ...cluster.user,
    cwd: cluster.folder,
    stdio,
    // In a session of its own, because Ctrl-C in a terminal goes to all processes of a session, and the database must
    // stop last.
    detached: true,
    // Without the environment of this process: it contains the encryption key, and PG… variables that may refer to
    // other servers.
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });

/** Runs `use` with a file as input. Node's pipes are sockets, and /dev/fd/0 of a socket cannot be opened again. */
const withInput = async (
  { user }: PostgresCluster,
  home: string,
  content: string,
  use: (descriptor: number) => Promise<void>,
): Promise<void> => {
  const file = join(home, `${DRAFT}input`);
  const handle = await open(file, 'wx+', 0o600);
  try {
    if (user) await handle.chown(user.uid, user.gid);
    // Written at position 0 explicitly, so that the file position, which the child inherits, stays at the beginning.
    await handle.write(content, 0);
    await use(handle.fd);
  } finally {
    await handle.close();
    await rm(file);
  }
};

const waitForExit = (child: ChildProcess, failure: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', (error) => reject(new Error(failure, { cause: error })));
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${failure} (${signal ?? `exit code ${code}`}):\n${output.trim()}`));
    });
  });

/**
 * Changes the owner of all files. A volume outlives an image, and the user `postgres` may have another id in the next
 * image.
 */
const changeOwner = async (folder: string, user: SystemUser): Promise<void> => {
  if (user === null || (await stat(folder)).uid === user.uid) return;
  const inside = await readdir(folder, { recursive: true });
  await Promise.all(inside.map((name) => chown(join(folder, name), user.uid, user.gid)));
  await chown(folder, user.uid, user.gid);
};
