import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { isLoopback } from '../../loopback.js';
import { Destinations } from '../network/destinations.js';
import { startProxy } from '../network/proxy.js';
import {
  SYSTEM_PATH,
  type ExceededLimit,
  type Sandbox,
  type SandboxCommand,
  type SandboxedProcess,
  type SandboxExit,
  type SandboxMount,
  type SandboxSettings,
} from '../sandbox.js';
import { sendSignal, waitUntilEnded } from '../signals.js';
import type { ControlGroup, ControlGroups } from '../usage/control-groups.js';
import { watchUsage } from '../usage/watch-usage.js';
import {
  addLimits,
  buildBubblewrapArguments,
  HOME,
  SYSTEM_FOLDER,
  USER_NAME,
  type RootFolder,
} from './bubblewrap-arguments.js';
import { chooseUser, grantMounts } from './grant-mounts.js';
import type { LaunchOrder } from './launch-order.js';
import { createRunFolder, type RunFolder } from './run-folder.js';
import { spawnBubblewrap, type SpawnedSandbox } from './spawn-bubblewrap.js';

const PROXY_PORT = 3128;
const PROXY = `http://127.0.0.1:${PROXY_PORT}`;

/** git, curl, terraform and other programs in Go use the proxy for everything but loopback addresses. */
const ENVIRONMENT = {
  USER: USER_NAME,
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  http_proxy: PROXY,
  https_proxy: PROXY,
  NO_PROXY: 'localhost,127.0.0.1,::1',
  no_proxy: 'localhost,127.0.0.1,::1',
};

/** Programs in Go never use a proxy for localhost, so a server there needs its port inside of the sandbox too. */
const listListeners = ({ server: { host, port } }: Destinations): LaunchOrder['listeners'] => [
  { host: '127.0.0.1', port: PROXY_PORT, socket: `${SYSTEM_FOLDER}/proxy.sock` },
  ...(isLoopback(host) || host.endsWith('.localhost')
    ? ['127.0.0.1', '::1'].map((address) => ({ host: address, port, socket: `${SYSTEM_FOLDER}/server.sock` }))
    : []),
];

/** What a sandbox is created from. */
type SandboxParts = {
  readonly bubblewrap: string;
  readonly prlimit: string;
  readonly rootFolders: readonly RootFolder[];
  /** Null if the executor may not create control groups. */
  readonly groups: ControlGroups | null;
};

type Preparation = {
  readonly user: number | null;
  readonly folder: RunFolder;
  readonly group: ControlGroup | null;
  readonly order: LaunchOrder;
  /** Removes everything but the processes. */
  readonly cleanUp: () => Promise<void>;
};

/** Runs each command in namespaces of its own, which bubblewrap creates. */
export class BubblewrapSandbox implements Sandbox {
  readonly name = 'bubblewrap';
  private readonly destinations: Destinations;

  constructor(
    private readonly parts: SandboxParts,
    private readonly settings: SandboxSettings,
  ) {
    this.destinations = new Destinations(settings.server, settings.permittedHosts);
  }

  locate({ target }: SandboxMount): string {
    return target;
  }

  async start(command: SandboxCommand): Promise<SandboxedProcess> {
    const preparation = await this.prepare(command);
    try {
      return this.follow(command, preparation, await this.spawn(command, preparation));
    } catch (error) {
      await preparation.cleanUp();
      throw error;
    }
  }

  private async prepare(command: SandboxCommand): Promise<Preparation> {
    const user = process.getuid?.() === 0 ? chooseUser(command.mounts) : null;
    if (user !== null) await grantMounts(command.mounts, user);
    const group = (await this.parts.groups?.create(this.settings.limits)) ?? null;
    const folder = await createRunFolder(user);
    const proxy = await startProxy(this.destinations, folder);
    // If the executor is root, another user connects to them.
    await Promise.all([folder.socket, folder.serverSocket].map((path) => chmod(path, 0o666)));
    const cleanUp = async (): Promise<void> => {
      proxy.close();
      await Promise.all([folder.remove(), group?.remove()]);
    };
    return { user, folder, group, order: this.buildOrder(command, user), cleanUp };
  }

  private buildOrder(command: SandboxCommand, user: number | null): LaunchOrder {
    return {
      argv: addLimits(command, this.settings.limits, this.parts.prlimit),
      workingDirectory: command.workingDirectory,
      environment: {
        PATH: SYSTEM_PATH,
        HOME,
        ...command.environment,
        ...(command.isOffline === true ? {} : ENVIRONMENT),
      },
      listeners: command.isOffline === true ? [] : listListeners(this.destinations),
      user,
    };
  }

  private spawn(command: SandboxCommand, { folder, group, order }: Preparation): Promise<SpawnedSandbox> {
    const options = {
      ...this.parts,
      ...command,
      limits: this.settings.limits,
      systemFiles: folder.systemFiles,
      isRoot: order.user !== null,
    };
    const argv = [this.parts.bubblewrap, '--info-fd', '4', ...buildBubblewrapArguments(options)];
    return spawnBubblewrap(argv, order, group?.processesFile ?? null);
  }

  private follow(
    { mounts, seconds }: SandboxCommand,
    { group, cleanUp }: Preparation,
    { child, stdout, stderr, firstProcess, interrupt, getResult }: SpawnedSandbox,
  ): SandboxedProcess {
    const { limits } = this.settings;
    const watching = new AbortController();
    let exceeded: ExceededLimit | null = null;
    const kill = (): void => {
      if (!watching.signal.aborted) sendSignal(firstProcess, 'SIGKILL');
    };
    const stopBecauseOf = (limit: ExceededLimit): void => {
      exceeded ??= limit;
      kill();
    };
    const timer = setTimeout(() => stopBecauseOf('time'), seconds * 1000);
    const usage = { pid: firstProcess, isMemoryLimited: group !== null, mounts, limits };
    watchUsage(usage, watching.signal, stopBecauseOf);
    const cleaned = once(child, 'exit').then(async () => {
      // bubblewrap ends when the launcher has ended, but the first process only after all others in its namespace.
      await waitUntilEnded(firstProcess);
      watching.abort();
      clearTimeout(timer);
      if (await group?.isOutOfMemory()) exceeded ??= 'memory';
      await cleanUp();
    });
    const exit = once(child, 'close').then(async (): Promise<SandboxExit> => {
      await cleaned;
      return { ...(getResult() ?? { code: null, signal: 'SIGKILL' }), exceeded };
    });
    return { stdout, stderr, exit, interrupt, kill };
  }
}
