import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chown, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileOrNull, syncFolder } from '../machine/atomic-file.js';
import { readOrCreateSecret } from '../machine/data-folder.js';
import { findPostgresBinaries, findPostgresUser, type PostgresBinaries, type SystemUser } from './postgres-binaries.js';

/** A Postgres cluster on disk, and how its programs are run. */
export type PostgresCluster = {
  readonly folder: string;
  /** Unique to the folder; Postgres shows it in the title of each of its processes. */
  readonly name: string;
  readonly password: string;
  readonly binaries: PostgresBinaries;
  readonly user: SystemUser;
};

export const USER = 'cadastre';
export const DATABASE = 'cadastre';

/** The cluster in `folder`, made there the first time. */
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

/** Made beside its place and then moved there: a start that is killed halfway leaves a draft, never half a cluster. */
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
  // Postgres' single-user mode saves us a connection, and this library the driver.
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

// C.UTF-8 of Postgres' own: sorts the same on every machine, so no index breaks when the system's C library changes.
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
 * The cluster's folder as Postgres is told it.
 *
 * As root we run Postgres as another user, who may not pass through the folders above, such as /root or our own data
 * folder (0700). Opening those up would expose what else is in them; another place for the data would be left out of
 * backups. But Node enters the working directory before it changes the user, and Linux lets a process that is in a
 * folder stay there: through /proc/self/cwd Postgres names its own folder without passing through those above it. It
 * works because Postgres, too, stays in its data folder and calls everything else by relative paths.
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
    // A session of its own: Ctrl-C in a terminal goes to all of ours, and the database is the last to stop, not the first.
    detached: true,
    // Not our environment: it holds the encryption key, and PG… variables that mean other servers.
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });

/** Input from a file, since Node's pipes are sockets, and /dev/fd/0 cannot be opened again when it is one. */
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
    // At position 0 explicitly: the file's own position, which the child inherits, stays at the beginning.
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

/** Volumes outlive images, and in the next image `postgres` may have another number. */
const changeOwner = async (folder: string, user: SystemUser): Promise<void> => {
  if (user === null || (await stat(folder)).uid === user.uid) return;
  const inside = await readdir(folder, { recursive: true });
  await Promise.all(inside.map((name) => chown(join(folder, name), user.uid, user.gid)));
  await chown(folder, user.uid, user.gid);
};
