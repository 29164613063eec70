import { fork, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hasToken } from '#identity/people';
import { createSitePool } from '#organizations/agents';
import { readFileOrNull, StartupError, writeAtomically } from '#platform/host';
import { Backoff } from '#platform/kernel';
import { EXECUTOR_VARIABLES, type Settings } from '#platform/settings';
import { getLongestStopMs } from '../../executor/src/stop-times.js';
import type { Runtime } from '../../runtime.js';

const CHILD = fileURLToPath(new URL('../../executor/src/child.js', import.meta.url));

const EXECUTOR_TOKEN_FILE = 'executor-token';
/** The name of the pool that the first start creates. */
const POOL = 'embedded';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
const STABLE_MS = 60_000;
/** An executor without running phases ends earlier, and then there is nothing to say. */
const SLOW_STOP_MS = 1_000;
/** The exit code of `cadastre executor` if the machine has no sandbox. After any other one, another start may succeed. */
const NO_SANDBOX = 3;

/** The only variables of the environment that the executor gets: those of the server contain its secrets. */
const INHERITED_VARIABLES = [
  ...EXECUTOR_VARIABLES,
  'HOME',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'PATH',
  'TMPDIR',
  'TZ',
  'USER',
  'XDG_RUNTIME_DIR',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'no_proxy',
  'LOG_LEVEL',
  'NODE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
];

/** The environment of the executor. `caFile`: the authority of the server's certificate, if it is the server's own. */
const createEnvironment = ({ dataFolder, publicUrl }: Settings, caFile: string | null): NodeJS.ProcessEnv => {
  const inherited = Object.fromEntries(INHERITED_VARIABLES.map((name) => [name, process.env[name]]));
  // The operator may have set one of them for another authority.
  const authority = process.env['SSL_CERT_FILE'] ? 'NODE_EXTRA_CA_CERTS' : 'SSL_CERT_FILE';
  return {
    CADASTRE_EXECUTOR_WORK: join(dataFolder, 'executor'),
    ...Object.fromEntries(Object.entries(inherited).filter(([, value]) => value)),
    ...(caFile === null ? {} : { [authority]: caFile }),
    CADASTRE_SERVER: publicUrl,
    // The token is in a file, because a file is readable for this user only, unlike arguments, and is in no log.
    CADASTRE_EXECUTOR_TOKEN_FILE: join(dataFolder, EXECUTOR_TOKEN_FILE),
  };
};

/** Returns what prevents this machine from executing runs, or null. */
const findProblem = async (settings: Settings, signal: AbortSignal): Promise<string | null> => {
  const env = createEnvironment(settings, null);
  const child = spawn(process.execPath, [CHILD, '--check'], { env, signal, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const [code, errors] = await Promise.all([ended, text(child.stderr)]).finally(() => signal.throwIfAborted());
  return code === 0 ? null : errors.trim() || `the check of the executor ended with exit code ${code}`;
};

/** Whether `serve` starts an executor, and what the greeting says about it. */
type ExecutorDecision = { readonly starts: boolean; readonly description: string | null };

const describeSandbox = (): string =>
  process.env['CADASTRE_EXECUTOR_SANDBOX'] === 'off'
    ? 'without a sandbox (CADASTRE_EXECUTOR_SANDBOX=off)'
    : 'in a sandbox';

/**
 * Decides whether this start runs an executor, and creates its pool with a token if it is missing: in a new installation if this
 * machine can execute runs, and with `CADASTRE_EXECUTOR=on`. Other installations stay as they are, because a pool of the site
 * moves plans and applies from the machines of people to this one.
 */
export const prepareExecutor = async (
  runtime: Runtime,
  isNew: boolean,
  stopping: AbortSignal,
): Promise<ExecutorDecision> => {
  const { settings, store } = runtime;
  if (settings.executor === 'off') return { starts: false, description: null };
  const stored = await readFileOrNull(join(settings.dataFolder, EXECUTOR_TOKEN_FILE));
  const hasPool = stored !== null && (await hasToken(store, stored.trim()));
  if (!hasPool && !isNew && settings.executor === 'auto')
    return { starts: false, description: 'not executed by this server (CADASTRE_EXECUTOR=on starts an executor)' };
  const problem = await findProblem(settings, stopping);
  if (problem !== null && settings.executor === 'on') throw new StartupError(`CADASTRE_EXECUTOR: on, but ${problem}`);
  if (problem !== null) return { starts: false, description: `not executed by this server. ${problem}` };
  if (!hasPool) await createPool(runtime);
  return { starts: true, description: `executed by this server, ${describeSandbox()}` };
};

const createPool = async (runtime: Runtime): Promise<void> => {
  // A start that was interrupted, or another server with the same database, may have created the pool.
  const token = { description: 'The executor of serve', expiredAt: null };
  const secret = await createSitePool(runtime, POOL, token, { existing: 'use', by: 'serve' });
  await writeAtomically(join(runtime.settings.dataFolder, EXECUTOR_TOKEN_FILE), `${secret}\n`, 0o600);
};

/** Resolves when the process has ended. */
const waitForEnd = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));

/**
 * The executor of `serve`, in a process of its own. If the process ends, another one is started after a pause. If the server is
 * killed, the executor notices that their connection has ended (apps/executor/src/child.ts).
 */
export class EmbeddedExecutor {
  private readonly stopping = new AbortController();
  private readonly backoff: Backoff;
  private readonly env: NodeJS.ProcessEnv;
  private child: ChildProcess | null = null;

  constructor(
    private readonly runtime: Runtime,
    caFile: string | null,
  ) {
    this.env = createEnvironment(runtime.settings, caFile);
    this.backoff = new Backoff({
      logger: runtime.logger,
      subject: 'the executor',
      firstMs: FIRST_PAUSE_MS,
      maxMs: MAX_PAUSE_MS,
    });
  }

  start(): void {
    // A process group of its own: signals of the terminal reach only the server, which then stops the executor.
    const child = fork(CHILD, [], { env: this.env, detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.child = child;
    const stable = setTimeout(() => this.backoff.succeeded(), STABLE_MS);
    child.once('exit', (code, signal) => {
      clearTimeout(stable);
      void this.replace(code, signal ?? `exit code ${code}`);
    });
    child.on('error', (error) => {
      if (child.pid === undefined) void this.replace(null, error.message);
      else this.runtime.logger.debug({ err: error }, 'the executor ended while a message was sent to it');
    });
  }

  /** Resolves when the executor has ended. It ends phases of runs first, which needs the server. */
  async stop(): Promise<void> {
    this.stopping.abort();
    const { child } = this;
    if (child === null) return;
    child.kill('SIGTERM');
    const timers = [
      setTimeout(() => this.describeStop(), SLOW_STOP_MS),
      setTimeout(() => child.kill('SIGKILL'), getLongestStopMs(this.env)),
    ];
    await waitForEnd(child);
    for (const timer of timers) clearTimeout(timer);
  }

  /** Interrupts phases that are running while the executor stops. Returns what happens, and null if nothing does. */
  hurry(): string | null {
    if (this.child === null || !this.stopping.signal.aborted) return null;
    this.child.kill('SIGTERM');
    return (
      'Interrupting running phases of remote runs: plans begin again later, applies fail, and their states are stored. ' +
      'Press Ctrl-C again to end the server at once. The executor then still waits up to 10 minutes for an apply.'
    );
  }

  private describeStop(): void {
    process.stderr.write(
      'Waiting for running phases of remote runs. CADASTRE_EXECUTOR_GRACE limits the time, and then they are interrupted. ' +
        'Press Ctrl-C again to interrupt them now.\n',
    );
  }

  private async replace(code: number | null, reason: string): Promise<void> {
    this.child = null;
    const { signal } = this.stopping;
    if (signal.aborted) return;
    const { logger } = this.runtime;
    if (code === NO_SANDBOX) {
      logger.error({}, 'the executor cannot run on this machine, so remote runs wait');
      return;
    }
    try {
      await delay(this.backoff.failed(new StartupError(`the executor ended with ${reason}`)), undefined, { signal });
      if (await this.hasPool()) this.start();
      else logger.error({}, 'the pool of the executor was deleted, so no executor is started');
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'the executor could not be started again');
    }
  }

  private async hasPool(): Promise<boolean> {
    const { settings, store } = this.runtime;
    const token = await readFileOrNull(join(settings.dataFolder, EXECUTOR_TOKEN_FILE));
    return token !== null && hasToken(store, token.trim());
  }
}
