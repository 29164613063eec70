import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { delimiter, dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { BUILD, DATA } from './folders.js';
import { freePorts } from './free-ports.js';
import { copyPreparedSite } from './prepared-site.js';

/** Exit code or signal of a process of the product, and its output. */
export type ProcessResult = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** The built product with its own data folder and port, run like users run it: `cadastre serve`. */
export type Product = {
  readonly url: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly adminToken: string;
  /** Starts all processes in one, or one of them. Resolves when it is ready. */
  start(process?: 'serve' | 'gateway' | 'projector' | 'publisher'): Promise<void>;
  /** Starts it with `npm start`. Signals then go to npm. */
  startWithNpm(): Promise<void>;
  /** Returns the process id of the server itself, even if npm has started it. */
  serverPid(): number;
  /** Sends SIGKILL to npm alone, after `startWithNpm`. */
  killNpm(): Promise<ProcessResult>;
  /** Closes standard output and error as a closing terminal does, and sends SIGHUP. */
  hangUp(): Promise<ProcessResult>;
  /** Starts the product, and ends it while its own Postgres is starting. Resolves when the process has ended. */
  endDuringStart(signal: NodeJS.Signals): Promise<ProcessResult>;
  /** Returns the standard output since the last start. */
  output(): string;
  /** Returns the standard error since the last start. */
  errors(): string;
  /** Returns whether its own Postgres has left a process that may still run. */
  isPostgresRunning(): boolean;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<ProcessResult>;
  /** Sends SIGKILL to the product and to its own Postgres. */
  killWithPostgres(): Promise<ProcessResult>;
  /** Sends a signal. Resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<ProcessResult>;
  /** Sends SIGTERM. Resolves when the process has ended. */
  stop(): Promise<ProcessResult>;
  /** Runs a command such as `verify`, beside the server or alone. */
  run(...args: readonly string[]): Promise<ProcessResult>;
  /** Starts a command, for tests that end it before its end. */
  spawn(...args: readonly string[]): { readonly ended: Promise<ProcessResult>; kill(signal: NodeJS.Signals): void };
  /** Starts a command with other settings. */
  spawnWith(
    settings: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ): { readonly ended: Promise<ProcessResult>; kill(signal: NodeJS.Signals): void };
  /** Runs a command with other settings. An empty setting counts as absent. */
  runWith(settings: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<ProcessResult>;
  /** Runs a command in a terminal and types this line. All output is in `stdout`. */
  runInTerminal(line: string, ...args: readonly string[]): Promise<ProcessResult>;
  /** Returns the URL of its own Postgres, while it runs. */
  databaseUrl(): Promise<string>;
  /** Ends all processes, and removes the data. */
  remove(): Promise<void>;
};

const POLL_MS = 20;
/** Many conditions open a connection or read a page of metrics, which takes 10 ms of CPU. */
const LONG_WAIT_MS = 2_000;
const LONG_WAIT_POLL_MS = 100;
const START_TIMEOUT_MS = 60_000;

/** Waits for a condition, by default up to the time that a start can take on a busy machine. */
export const waitUntil = async (
  condition: () => boolean | Promise<boolean>,
  what: string,
  limitMs = START_TIMEOUT_MS,
): Promise<void> => {
  const began = Date.now();
  while (!(await condition())) {
    const waited = Date.now() - began;
    if (waited > limitMs) throw new Error(`waited ${limitMs} ms until ${what}`);
    const pause = waited > LONG_WAIT_MS ? LONG_WAIT_POLL_MS : POLL_MS;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
};

/** Returns the content of a file, or an empty text if it does not exist. It can disappear at any time. */
export const contentOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
};

/**
 * Returns the status, or null if there is no response. Accepts any certificate, because it only requests the health.
 */
const statusOf = (url: string): Promise<number | null> =>
  new Promise((resolve) => {
    const answered = (response: IncomingMessage): void => {
      response.resume();
      resolve(response.statusCode ?? null);
    };
    const request = url.startsWith('https:')
      ? https.get(url, { rejectUnauthorized: false, agent: false }, answered)
      : http.get(url, { agent: false }, answered);
    request.once('error', () => resolve(null));
  });

type Running = {
  readonly child: ChildProcessByStdio<Writable | null, Readable, Readable>;
  readonly ended: Promise<ProcessResult>;
  over(): boolean;
  output(): string;
  errors(): string;
};

const launch = (folder: string, args: readonly string[], env: Readonly<Record<string, string>>): Running => {
  const main = join(folder, 'dist/apps/cadastre/src/main.js');
  return follow(spawn(process.execPath, [main, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }));
};

/** Starts the product with npm. Scripts of package.json find the Node that runs these tests. */
const launchWithNpm = (folder: string, env: Readonly<Record<string, string>>): Running => {
  const PATH = `${dirname(process.execPath)}${delimiter}${env['PATH'] ?? ''}`;
  return follow(spawn('npm', ['start'], { cwd: folder, env: { ...env, PATH }, stdio: ['ignore', 'pipe', 'pipe'] }));
};

/** Starts a command in a terminal, which `script` of util-linux makes. It exits like the command. */
const launchInTerminal = (
  folder: string,
  { line, args }: { readonly line: string; readonly args: readonly string[] },
  env: Readonly<Record<string, string>>,
): Running => {
  const command = [process.execPath, join(folder, 'dist/apps/cadastre/src/main.js'), ...args].join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.write(`${line}\n`);
  return follow(child);
};

const follow = (child: ChildProcessByStdio<Writable | null, Readable, Readable>): Running => {
  let over = false;
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const ended = new Promise<ProcessResult>((resolve, reject) => {
    child.once('error', reject);
    // `close` would come later: child processes can keep the pipes open for a while.
    child.once('exit', (code, signal) => {
      over = true;
      setImmediate(() => resolve({ code, signal, ...output }));
    });
  });
  return { child, ended, over: () => over, output: () => output.stdout, errors: () => output.stderr };
};

export type LaunchOptions = {
  /** A folder that looks like an installed product. The default is the product that the global set-up has compiled. */
  readonly build?: string;
  /** Whether the first start finds an empty data folder. By default it finds a migrated database without users. */
  readonly isNew?: boolean;
};

/** With these settings the product cannot use the prepared site, which has a database and a key of its own. */
const SITE_SETTINGS = ['CADASTRE_ENCRYPTION_KEY', 'DATABASE_URL'];

const makeDataFolder = async (
  settings: Readonly<Record<string, string>>,
  { isNew = false }: LaunchOptions,
): Promise<string> => {
  if (settings['CADASTRE_DATA'] !== undefined) return settings['CADASTRE_DATA'];
  const dataFolder = await mkdtemp(join(DATA, 'cadastre-data-'));
  if (!isNew && SITE_SETTINGS.every((name) => settings[name] === undefined)) await copyPreparedSite(dataFolder);
  return dataFolder;
};

export const launchProduct = async (
  settings: Readonly<Record<string, string>> = {},
  options: LaunchOptions = {},
): Promise<Product> => {
  const { build = BUILD } = options;
  const dataFolder = await makeDataFolder(settings, options);
  const [port] = await freePorts();
  const adminToken = settings['CADASTRE_ADMIN_TOKEN'] ?? `test.atlasv1.${randomBytes(24).toString('hex')}`;
  const env = {
    // Does not copy the environment, because it can contain DATABASE_URL or KAFKA_BROKERS of the developer.
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['CADASTRE_TEST_COMPILE_CACHE'] ?? '',
    PORT: String(port),
    CADASTRE_DATA: dataFolder,
    CADASTRE_TLS: 'off',
    CADASTRE_ADMIN_TOKEN: adminToken,
    LOG_LEVEL: 'warn',
    // Tests send more requests than the limits of a caller allow.
    CADASTRE_RATE_LIMIT: 'off',
    CADASTRE_ADDRESS_RATE_LIMIT: 'off',
    CADASTRE_WRONG_TOKEN_LIMIT: 'off',
    CADASTRE_ACCESS_CHANGE_LIMIT: 'off',
    CADASTRE_FACTS_LIMIT: 'off',
    CADASTRE_MAX_UNANSWERED_REQUESTS: 'off',
    // Most tests need no executor, whose process takes time.
    CADASTRE_EXECUTOR: 'off',
    CADASTRE_MAX_ORGANIZATIONS_PER_USER: 'off',
    CADASTRE_MAX_USERS: 'off',
    CADASTRE_MAX_INVITATIONS_PER_ORGANIZATION: 'off',
    CADASTRE_MAX_INVITATIONS_PER_CALLER: 'off',
    CADASTRE_MAX_SITE_RUNS_PER_ORGANIZATION: 'off',
    CADASTRE_MAX_TOKENS_PER_OWNER: 'off',
    ...settings,
  };
  const url = env.CADASTRE_TLS === 'off' ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
  let server: Running | null = null;

  const postmasterFile = join(dataFolder, 'postgres/cluster/postmaster.pid');
  /** Process id and start time of the running or killed Postgres. Empty if it has ended normally. */
  const postgres = (): string => contentOf(postmasterFile).split('\n').slice(0, 3).join();

  const isReady = async (): Promise<boolean> => {
    if (server?.over()) {
      const { code, signal, stdout, stderr } = await server.ended;
      throw new Error(`cadastre ended before it was ready (${signal ?? code}):\n${stdout}\n${stderr}`);
    }
    return (await statusOf(`${url}/readyz`)) === 200;
  };
  const end = async (signal: NodeJS.Signals): Promise<ProcessResult> => {
    if (!server) throw new Error('cadastre is not running');
    server.child.kill(signal);
    const ended = await server.ended;
    server = null;
    return ended;
  };
  return {
    url,
    port,
    dataFolder,
    adminToken,
    start: async (name = 'serve') => {
      server = launch(build, [name], env);
      await waitUntil(isReady, `cadastre ${name} is ready`);
    },
    startWithNpm: async () => {
      server = launchWithNpm(build, env);
      await waitUntil(isReady, 'cadastre is ready under npm');
    },
    serverPid: () => Number.parseInt(contentOf(join(dataFolder, 'pid')), 10),
    killNpm: () => end('SIGKILL'),
    hangUp: () => {
      server?.child.stdout.destroy();
      server?.child.stderr.destroy();
      return end('SIGHUP');
    },
    endDuringStart: async (signal) => {
      const before = postgres();
      server = launch(build, ['serve'], env);
      // Postgres writes this file first. Then it reads the log of its last run.
      await waitUntil(() => ![before, ''].includes(postgres()), 'its Postgres is starting');
      return end(signal);
    },
    output: () => server?.output() ?? '',
    errors: () => server?.errors() ?? '',
    end,
    isPostgresRunning: () => postgres() !== '',
    kill: () => end('SIGKILL'),
    killWithPostgres: () => {
      process.kill(Number.parseInt(postgres(), 10), 'SIGKILL');
      return end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
    run: (...args) => launch(build, args, env).ended,
    spawn: (...args) => {
      const { child, ended } = launch(build, args, env);
      return { ended, kill: (signal) => void child.kill(signal) };
    },
    spawnWith: (otherSettings, ...args) => {
      const { child, ended } = launch(build, args, { ...env, ...otherSettings });
      return { ended, kill: (signal) => void child.kill(signal) };
    },
    runWith: (otherSettings, ...args) => launch(build, args, { ...env, ...otherSettings }).ended,
    runInTerminal: (line, ...args) => launchInTerminal(build, { line, args }, env).ended,
    databaseUrl: () => readFile(join(dataFolder, 'database-url'), 'utf8'),
    remove: async () => {
      if (server && !server.over()) await end('SIGKILL');
      await waitUntil(() => postgres() === '', 'its Postgres has ended');
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
};
