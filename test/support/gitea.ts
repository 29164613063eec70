import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './folders.js';
import { freePorts } from './free-ports.js';
import { runKeptProgram } from './kept-program.js';
import { waitUntil } from './product.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

/** The first call on a machine builds Gitea, which takes minutes. */
export const INSTALL_GITEA_TIMEOUT_MS = 15 * 60_000;

const ADMIN = 'cadastre-bot';
const PASSWORD = 'password';

/** Gitea refuses to run as root, which tests in containers do. */
const AS_ANYBODY = { GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true' };

/** Requests to Gitea as one of its users. */
type GiteaClient = {
  /** Sends a request. Fails unless it succeeds. */
  call(method: string, path: string, body?: object): Promise<any>;
  /** Commits these files to a branch, which it creates from `main` if it is new. Returns the SHA of the commit. */
  commit(
    repository: string,
    branch: string,
    files: Readonly<Record<string, string>>,
    message?: string,
  ): Promise<string>;
};

type GiteaFork = GiteaClient & {
  readonly fork: string;
  /** Pushes a commit to `refs/for/main` of the repository, which opens a pull request without a branch. */
  pushForReview(topic: string): Promise<void>;
};

type GiteaApplication = { readonly id: number; readonly key: string; readonly secret: string };

type SymbolicLink = { readonly path: string; readonly target: string };

/** A Gitea with an administrator and a token of them. Requests are those of the administrator. */
export type Gitea = GiteaClient & {
  readonly url: string;
  readonly apiUrl: string;
  readonly user: string;
  readonly password: string;
  readonly token: string;
  /** Creates a repository with a commit on `main`. Returns its identifier. */
  makeRepository(name: string, files: Readonly<Record<string, string>>): Promise<string>;
  /** Runs commands of git, such as `['push', '--force', …]`, one after another in a new clone with this symbolic link or none. */
  runGit(repository: string, commands: readonly (readonly string[])[], link?: SymbolicLink): Promise<void>;
  /** Sets a branch to a commit that it had before, as a push with `--force` does. */
  pushBack(repository: string, branch: string, sha: string): Promise<void>;
  /** Creates a user without rights to the repository, with a fork of it. */
  makeFork(repository: string, user: string): Promise<GiteaFork>;
  /** Registers an OAuth application of the administrator, to which Gitea sends browsers back. */
  makeApplication(callbackUrl: string): Promise<GiteaApplication>;
  remove(): Promise<void>;
};

const formatConfiguration = (folder: string, sources: string, port: number): string => `
APP_NAME = Gitea
RUN_USER = ${userInfo().username}
WORK_PATH = ${folder}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
STATIC_ROOT_PATH = ${sources}
OFFLINE_MODE = true
DISABLE_SSH = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2$1$1
[oauth2]
INVALIDATE_REFRESH_TOKENS = true
[webhook]
ALLOWED_HOST_LIST = loopback, 0.0.0.0/32
[log]
LEVEL = Warn
[cron]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
`;

const createClient = (apiUrl: string, headers: Readonly<Record<string, string>>): GiteaClient => {
  const call: GiteaClient['call'] = async (method, path, body) => {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} of Gitea: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const commit: GiteaClient['commit'] = async (repository, branch, files, message = 'Change files') => {
    const names = new Set(
      ((await call('GET', `/repos/${repository}/branches?limit=50`)) ?? []).map(({ name }: { name: string }) => name),
    );
    const isNew = names.size > 0 && !names.has(branch);
    const changes = Object.entries(files).map(([path, text]) => ({
      operation: 'upload',
      path,
      content: Buffer.from(text).toString('base64'),
    }));
    const body = { branch: isNew ? 'main' : branch, ...(isNew && { new_branch: branch }), message, files: changes };
    return (await call('POST', `/repos/${repository}/contents`, body)).commit.sha as string;
  };
  return { call, commit };
};

/** Starts Gitea on 127.0.0.1 with an empty database. */
export const startGitea = async (): Promise<Gitea> => {
  requirePrograms('go', 'gcc', 'git');
  const sources = (await run('bash', [join(ROOT, 'test/support/install-gitea')])).stdout.trim();
  const program = join(sources, 'gitea');
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-gitea-'));
  const [port] = await freePorts();
  const config = join(folder, 'app.ini');
  const env = { ...process.env, ...AS_ANYBODY };
  await writeFile(config, formatConfiguration(folder, sources, port));
  await run(program, ['migrate', '--config', config], { env });
  const account = ['--username', ADMIN, '--password', PASSWORD, '--email', 'bot@example.com', '--admin'];
  const options = ['--must-change-password=false', '--access-token', '--access-token-scopes', 'all'];
  const create = ['admin', 'user', 'create', '--config', config, ...account, ...options];
  const created = await run(program, create, { env });
  const token = /\b[0-9a-f]{40}\b/.exec(created.stdout)?.[0] ?? '';
  const server = await runKeptProgram(program, ['web', '--config', config], join(folder, 'log'), env);
  const url = `http://127.0.0.1:${port}`;
  const apiUrl = `${url}/api/v1`;
  await waitUntil(async () => {
    const failure = server.failure();
    if (failure) throw new Error(`Gitea ended: ${failure}`);
    return (await fetch(`${apiUrl}/version`).catch(() => null))?.ok ?? false;
  }, 'Gitea answers');
  const client = createClient(apiUrl, { authorization: `token ${token}` });
  const runGit: Gitea['runGit'] = async (repository, commands, link) => {
    const address = Object.assign(new URL(`${url}/${repository}.git`), { username: ADMIN, password: PASSWORD });
    const cwd = await mkdtemp(join(folder, 'clone-'));
    await run('git', ['clone', '--quiet', address.href, cwd]);
    if (link) await symlink(link.target, join(cwd, link.path));
    const author = ['-c', `user.name=${ADMIN}`, '-c', 'user.email=bot@example.com'];
    for (const command of commands) await run('git', [...author, ...command], { cwd });
  };

  return {
    url,
    apiUrl,
    user: ADMIN,
    password: PASSWORD,
    token,
    ...client,
    makeRepository: async (name, files) => {
      const { full_name: identifier } = await client.call('POST', '/user/repos', { name, default_branch: 'main' });
      await client.commit(identifier, 'main', files, 'Add files');
      return identifier;
    },
    runGit,
    pushBack: (repository, branch, sha) =>
      runGit(repository, [['push', '--force', 'origin', `${sha}:refs/heads/${branch}`]]),
    makeFork: async (repository, name) => {
      const password = 'password-of-a-user';
      const user = { username: name, password, email: `${name}@example.com`, must_change_password: false };
      await client.call('POST', '/admin/users', user);
      const other = createClient(apiUrl, {
        authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
      });
      const pushForReview = async (topic: string): Promise<void> => {
        const address = Object.assign(new URL(`${url}/${repository}.git`), { username: name, password });
        const clone = await mkdtemp(join(folder, 'clone-'));
        const author = ['-c', `user.name=${name}`, '-c', `user.email=${name}@example.com`];
        await run('git', ['clone', '--quiet', address.href, clone]);
        await run('git', [...author, 'commit', '--quiet', '--allow-empty', '-m', `Push ${topic}`], { cwd: clone });
        await run('git', ['push', '--quiet', 'origin', 'HEAD:refs/for/main', '-o', `topic=${topic}`], { cwd: clone });
      };
      const { full_name: fork } = await other.call('POST', `/repos/${repository}/forks`, {});
      return { ...other, fork, pushForReview };
    },
    makeApplication: async (callbackUrl) => {
      const application = { name: 'Cadastre', redirect_uris: [callbackUrl], confidential_client: true };
      const created = await client.call('POST', '/user/applications/oauth2', application);
      return { id: created.id, key: created.client_id, secret: created.client_secret };
    },
    remove: async () => {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
