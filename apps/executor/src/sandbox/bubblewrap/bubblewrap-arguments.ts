import { dirname } from 'node:path';
import type { SandboxCommand, SandboxLimits, SandboxMount } from '../sandbox.js';
import type { LaunchOrder } from './launch-order.js';

/** The folder of the sandbox with Node, the launcher and the sockets of the proxy. */
export const SYSTEM_FOLDER = '/run/cadastre';
export const HOME = '/home/cadastre';
export const USER_NAME = 'cadastre';

/** Libraries, certificates and tables that programs expect. Nothing of them is secret, and nothing names the machine. */
const SYSTEM_FILES = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/ca-certificates.conf',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/nsswitch.conf',
  '/etc/pki/ca-trust/extracted',
  '/etc/pki/tls/cert.pem',
  '/etc/pki/tls/certs',
  '/etc/protocols',
  '/etc/resolv.conf',
  '/etc/services',
  '/etc/ssh/ssh_known_hosts',
  '/etc/ssl/cert.pem',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
];

/** A folder at the root of the file system: its own, or a symbolic link such as /bin to usr/bin. */
export type RootFolder = { readonly path: string; readonly linkTo: string | null };

type BubblewrapOptions = {
  readonly rootFolders: readonly RootFolder[];
  /** Files of the executor by their path in the sandbox. They are read-only. */
  readonly systemFiles: Readonly<Record<string, string>>;
  readonly mounts: readonly SandboxMount[];
  readonly limits: SandboxLimits;
  /** Whether root creates the sandbox for a user without rights. Others need a user namespace. */
  readonly isRoot: boolean;
};

/**
 * Returns a command with the limits of its processes. They are set inside of the sandbox: outside, the number of processes
 * would count everything that the user runs, and not what runs in this user namespace. V8 reserves more memory than a
 * small limit permits, so the launcher has none.
 */
export const addLimits = (
  { argv }: SandboxCommand,
  { memoryBytes, processes, diskBytes }: SandboxLimits,
  prlimit: string,
): LaunchOrder['argv'] => [
  prlimit,
  '--core=0',
  `--nproc=${processes}`,
  // Writable memory of a process. RLIMIT_AS would also count the addresses that Go reserves and does not use.
  `--data=${memoryBytes}`,
  `--fsize=${diskBytes}`,
  '--',
  ...argv,
];

const buildNamespaces = (isRoot: boolean): string[] => [
  '--unshare-ipc',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--die-with-parent',
  '--new-session',
  '--hostname',
  USER_NAME,
  // The launcher needs these to become another user, and loses them then. bubblewrap forbids to gain new rights.
  ...(isRoot ? ['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'] : []),
  ...(isRoot ? [] : ['--unshare-user', '--disable-userns', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL']),
];

const buildTemporaryFolder = (path: string, bytes: number): string[] => [
  '--perms',
  '1777',
  '--size',
  String(bytes),
  '--tmpfs',
  path,
];

/** Folders in memory, in which a command can change nothing but what is mounted there. */
const buildFolders = (paths: readonly string[]): string[] => {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '/' && !folders.has(folder); folder = dirname(folder))
      folders.add(folder);
  }
  return [...folders].toSorted().flatMap((folder) => ['--perms', '0755', '--dir', folder]);
};

/** Returns the arguments of bubblewrap for a sandbox that runs the launcher. */
export const buildBubblewrapArguments = (options: BubblewrapOptions): string[] => {
  const { rootFolders, systemFiles, mounts, limits, isRoot } = options;
  return [
    ...buildNamespaces(isRoot),
    ...rootFolders.flatMap(({ path, linkTo }) =>
      linkTo === null ? ['--ro-bind', path, path] : ['--symlink', linkTo, path],
    ),
    // bubblewrap creates missing folders too, but for root only.
    ...buildFolders([...SYSTEM_FILES, ...Object.keys(systemFiles)]),
    ...SYSTEM_FILES.flatMap((path) => ['--ro-bind-try', path, path]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...['/dev/shm', '/tmp', '/var/tmp', HOME].flatMap((path) => buildTemporaryFolder(path, limits.temporaryBytes)),
    ...Object.entries(systemFiles).flatMap(([target, source]) => ['--ro-bind', source, target]),
    ...buildFolders(mounts.map(({ target }) => target)),
    ...mounts.flatMap(({ source, target, writable }) => [writable ? '--bind' : '--ro-bind', source, target]),
    // Both are in memory, and without a limit.
    '--remount-ro',
    '/dev',
    '--remount-ro',
    '/',
    '--chdir',
    '/',
    '--',
    `${SYSTEM_FOLDER}/node`,
    // The command could otherwise open the debugger of the launcher, and send messages in its name.
    '--disable-sigusr1',
    `${SYSTEM_FOLDER}/launcher.mjs`,
  ];
};
