import { mkdtemp, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getErrorCode } from '#platform/kernel';
import { HOME, SYSTEM_FOLDER, USER_NAME, type RootFolder } from './bubblewrap-arguments.js';

const LAUNCHER = fileURLToPath(new URL('launcher.js', import.meta.url));
const ROOT_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** The user in a sandbox with a user namespace. */
const NAMESPACE_USER = 1000;

/** Returns the folders of programs and libraries that this machine has. */
export const findRootFolders = async (): Promise<readonly RootFolder[]> => {
  const folders = ROOT_FOLDERS.map(async (path): Promise<RootFolder | null> => {
    try {
      return { path, linkTo: await readlink(path) };
    } catch (error) {
      return getErrorCode(error) === 'ENOENT' ? null : { path, linkTo: null };
    }
  });
  return (await Promise.all(folders)).filter((folder) => folder !== null);
};

/** Without these, ssh does not run, git has no way out over ssh, and programs do not find localhost. */
const buildFiles = (user: number): Readonly<Record<string, string>> => ({
  passwd: `root:x:0:0::/:/bin/false\n${USER_NAME}:x:${user}:${user}::${HOME}:/bin/sh\n`,
  group: `root:x:0:\n${USER_NAME}:x:${user}:\n`,
  hosts: '127.0.0.1 localhost\n::1 localhost\n',
  ssh_config: `Host *\n  ProxyCommand ${SYSTEM_FOLDER}/node ${SYSTEM_FOLDER}/launcher.mjs connect %h %p\n`,
});

/** The files of the executor for one command. */
export type RunFolder = {
  readonly socket: string;
  readonly serverSocket: string;
  /** What the command sees of it, by its path in the sandbox. */
  readonly systemFiles: Readonly<Record<string, string>>;
  remove(): Promise<void>;
};

/** Creates the folder with the files that a sandbox has instead of those of the machine. */
export const createRunFolder = async (user: number | null): Promise<RunFolder> => {
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-run-'));
  const files = buildFiles(user ?? NAMESPACE_USER);
  const locate = (name: string): string => join(folder, name);
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(locate(name), text, { mode: 0o644 })));
  return {
    socket: locate('proxy.sock'),
    serverSocket: locate('server.sock'),
    systemFiles: {
      '/etc/passwd': locate('passwd'),
      '/etc/group': locate('group'),
      '/etc/hosts': locate('hosts'),
      '/etc/ssh/ssh_config': locate('ssh_config'),
      [`${SYSTEM_FOLDER}/node`]: process.execPath,
      [`${SYSTEM_FOLDER}/launcher.mjs`]: LAUNCHER,
      [`${SYSTEM_FOLDER}/proxy.sock`]: locate('proxy.sock'),
      [`${SYSTEM_FOLDER}/server.sock`]: locate('server.sock'),
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};
