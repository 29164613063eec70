import { execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-ports.js';

/** sshd starts itself again for each connection, so it needs its whole path. */
const SSHD = '/usr/sbin/sshd';

/** A repository of git that only the owner of a key can read, over SSH. */
type GitServer = {
  /** The address of the repository in a configuration. */
  readonly source: string;
  readonly privateKey: string;
  /** Returns how often a client has authenticated with the key. */
  countLogins(): number;
  close(): Promise<void>;
};

const git = (folder: string, ...args: readonly string[]): void =>
  void execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...args], {
    cwd: folder,
    stdio: 'pipe',
  });

/** Makes a repository with this file `main.tf`, and starts a server for it on the loopback interface. */
export const startGitServer = async (main: string): Promise<GitServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-git-'));
  const [host, person] = [join(folder, 'host'), join(folder, 'person')];
  for (const key of [host, person]) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const work = join(folder, 'work');
  await mkdir(work);
  await writeFile(join(work, 'main.tf'), main);
  git(work, 'init', '-q');
  git(work, 'add', '.');
  git(work, 'commit', '-q', '-m', 'Add the module');
  git(folder, 'clone', '-q', '--bare', work, 'module.git');
  const [port] = await freePorts();
  const options = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: host,
    AuthorizedKeysFile: `${person}.pub`,
    AuthenticationMethods: 'publickey',
    // The folder is in /tmp, which everybody can write.
    StrictModes: 'no',
    UsePAM: 'no',
    PidFile: 'none',
    LogLevel: 'VERBOSE',
  };
  const config = join(folder, 'sshd_config');
  await writeFile(
    config,
    Object.entries(options)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  );
  // The packages of Debian make this folder with their service.
  if (userInfo().uid === 0) await mkdir('/run/sshd', { recursive: true });
  const server = spawn(SSHD, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`sshd ended with ${code}: ${log}`)));
    server.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('Server listening')) resolve();
    });
  });
  await listening;
  return {
    source: `git::ssh://${userInfo().username}@127.0.0.1:${port}${join(folder, 'module.git')}`,
    privateKey: await readFile(person, 'utf8'),
    countLogins: () => log.split('Accepted publickey').length - 1,
    close: async () => {
      server.removeAllListeners('exit');
      server.kill('SIGKILL');
      await rm(folder, { recursive: true });
    },
  };
};
