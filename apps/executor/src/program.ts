import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { pino, stdTimeFunctions } from 'pino';
import type { Logger } from '#platform/kernel';
import { Executor, type StopSignals } from './agent/executor.js';
import { lockWorkFolder } from './agent/work-folder.js';
import { ExecutorApi } from './api/executor-api.js';
import { ServerConnection } from './api/server-connection.js';
import { trustAuthorities } from './authorities.js';
import { DocumentReader } from './documents/document-reader.js';
import { EXIT_CODES, ExecutorError } from './executor-error.js';
import { readExecutorVersion } from './executor-version.js';
import { Destinations } from './sandbox/network/destinations.js';
import { findSandbox } from './sandbox/find-sandbox.js';
import {
  parseExecutorSettings,
  readPoolToken,
  type ExecutorCommandOptions,
  type ExecutorSettings,
} from './settings.js';
import { DEFAULT_GRACE_SECONDS } from './stop-times.js';
import { RELEASE_KEYS } from './tools/release-keys.js';
import { ToolFinder } from './tools/tool-finder.js';
import { HASHICORP_RELEASES } from './tools/tool-release.js';

const HELP = `
The executor plans and applies the runs of the workspaces that its agent pool serves. It sends HTTPS requests to the server and needs
no open port. Its token comes from CADASTRE_EXECUTOR_TOKEN or from --token-file: a token of an agent pool.

It trusts the certificates of this machine and those of SSL_CERT_FILE.

It takes terraform or tofu from the archives that administrators have set for a version, or else from the PATH if it has the
version that a workspace requires. Otherwise it downloads the tool from --tool-mirror, and checks its checksum. A mirror with http:// can run any program here, because it also sends the checksums.

SIGTERM or Ctrl-C stops it: it takes no new run, and phases that are running can end within --grace. Then, or at a second signal, it
interrupts them: a plan begins again on another executor, an apply fails with its state stored.

Exit codes:
  0    stopped by a signal, or --check succeeded
  ${EXIT_CODES.refused}    the server refuses the executor
  ${EXIT_CODES.usage}    an option or a setting is wrong
  ${EXIT_CODES.sandbox}    this machine cannot run commands in a sandbox

Example:
  CADASTRE_EXECUTOR_TOKEN=… cadastre executor --server https://cadastre.example.com --capacity 4
`;

const createExecutorLogger = (): Logger =>
  pino({ base: null, timestamp: stdTimeFunctions.isoTime, level: process.env['LOG_LEVEL'] ?? 'info' });

/** The terminal and npm may send the same signal twice. */
const SAME_REQUEST_MS = 1_000;

/** The first signal asks phases to end, the second one interrupts them. */
const listenForStop = (logger: Logger): StopSignals => {
  const [soon, now] = [new AbortController(), new AbortController()];
  let first: number | null = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (first === null) {
        first = performance.now();
        logger.info({ signal }, 'stopping');
        soon.abort();
      } else if (performance.now() - first > SAME_REQUEST_MS) now.abort();
    });
  }
  return { soon: soon.signal, now: now.signal };
};

const PROCESSES_OF_A_RUN = 4_096;
/** Of `/tmp` and the home folder in a sandbox. Terraform uses the disk for its temporary files. */
const TEMPORARY_BYTES = 512 * 1024 * 1024;
/** For states and logs that wait for the server. */
const FREE_BYTES = 256 * 1024 * 1024;

const chooseSandbox = async ({
  sandboxMode: mode,
  server,
  memoryBytes,
  diskBytes,
  processors,
  capacity,
  permittedHosts,
}: ExecutorSettings) => {
  const limits = {
    memoryBytes,
    diskBytes,
    processes: PROCESSES_OF_A_RUN,
    temporaryBytes: TEMPORARY_BYTES,
    freeBytes: FREE_BYTES,
    processors: processors ?? Math.max(1, availableParallelism() / capacity),
  };
  const choice = await findSandbox({ mode, limits, server, permittedHosts });
  if ('problem' in choice) throw new ExecutorError('sandbox', choice.problem);
  return { ...choice, processors: limits.processors };
};

const createToolFinder = (
  { workFolder, toolMirror: mirror, verifiesTools }: ExecutorSettings,
  logger: Logger,
): ToolFinder =>
  new ToolFinder({
    folder: join(workFolder, 'tools'),
    mirror,
    keys: verifiesTools ? RELEASE_KEYS : null,
    logger,
    now: () => new Date(),
  });

/** Prints what the executor would use. */
const check = async (settings: ExecutorSettings, logger: Logger): Promise<void> => {
  const { sandbox, processors, limitsProcessors } = await chooseSandbox(settings);
  const tools = await createToolFinder(settings, logger).listInstalled();
  const names = tools.map(({ name, version, path }) => `${name} ${version} (${path})`);
  const lines = [
    `Sandbox: ${sandbox.name}`,
    `Installed: ${names.join(', ') || 'neither terraform nor tofu'}`,
    `Other versions: ${settings.toolMirror}`,
    `Phases at a time: ${settings.capacity}`,
    `Processors of a run: ${limitsProcessors ? processors : 'not limited, because no control groups are delegated'}`,
    `Work folder: ${settings.workFolder}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
};

const warnAboutMirror = ({ toolMirror, verifiesTools }: ExecutorSettings, logger: Logger): void => {
  if (!verifiesTools && toolMirror.startsWith('http:'))
    logger.warn(
      { mirror: toolMirror },
      'the tool mirror is not encrypted, so everybody on the way to it can run programs on this executor; use https://',
    );
};

const runExecutor = async (
  settings: ExecutorSettings,
  tokenFile: string | undefined,
  logger: Logger,
): Promise<void> => {
  const { server, name, capacity, phases, graceSeconds, diskBytes, memoryBytes } = settings;
  const token = await readPoolToken(tokenFile, process.env);
  const authorities = await trustAuthorities(process.env);
  const { sandbox } = await chooseSandbox(settings);
  const workFolder = await lockWorkFolder(settings.workFolder);
  const tools = createToolFinder({ ...settings, workFolder }, logger);
  await tools.removeUnverified();
  const destinations = new Destinations(server, settings.permittedHosts);
  const executor = new Executor(
    {
      api: new ExecutorApi(new ServerConnection(server, logger), token),
      sandbox,
      findAddresses: (destination) => destinations.findAddresses(destination),
      tools,
      documents: new DocumentReader(memoryBytes),
      keptStates: join(workFolder, 'kept-states'),
      authorities,
      maxBytes: diskBytes,
      logger,
      now: () => new Date(),
    },
    {
      name,
      version: readExecutorVersion(),
      capacity,
      phases,
      runsFolder: join(workFolder, 'runs'),
      graceMs: graceSeconds * 1_000,
    },
  );
  warnAboutMirror(settings, logger);
  logger.info({ server: server.origin, sandbox: sandbox.name, workFolder }, 'executor started');
  await executor.run(listenForStop(logger));
  logger.info({}, 'executor stopped');
};

const execute = async ({ tokenFile, check: isCheck, ...options }: ExecutorCommandOptions): Promise<void> => {
  try {
    const logger = createExecutorLogger();
    const settings = parseExecutorSettings(options);
    await (isCheck ? check(settings, logger) : runExecutor(settings, tokenFile, logger));
  } catch (error) {
    if (!(error instanceof ExecutorError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_CODES[error.kind];
  }
};

const option = (flags: string, description: string, variable: string): Option =>
  new Option(flags, description).env(variable);

const OPTIONS: readonly Option[] = [
  option('--server <url>', 'address of the server', 'CADASTRE_SERVER'),
  option('--token-file <file>', 'file with the token of the agent pool', 'CADASTRE_EXECUTOR_TOKEN_FILE'),
  option('--name <name>', 'name of the agent (default: the host name)', 'CADASTRE_EXECUTOR_NAME'),
  option('--capacity <number>', 'phases at a time', 'CADASTRE_EXECUTOR_CAPACITY').default('1'),
  option('--accept <phases>', 'phases to take', 'CADASTRE_EXECUTOR_ACCEPT').default('plan,apply'),
  option('--work <folder>', 'folder for runs and downloads', 'CADASTRE_EXECUTOR_WORK').default('.cadastre-executor'),
  option('--tool-mirror <folder-or-url>', 'where to get terraform and tofu', 'CADASTRE_TOOL_MIRROR').default(
    HASHICORP_RELEASES,
  ),
  option('--tool-signatures <mode>', 'off: releases of a mirror need no signature', 'CADASTRE_TOOL_SIGNATURES').default(
    'required',
  ),
  option('--sandbox <mode>', 'off: commands run as the user of the executor', 'CADASTRE_EXECUTOR_SANDBOX').default(
    'on',
  ),
  option('--memory-mib <number>', 'memory of a run', 'CADASTRE_EXECUTOR_MEMORY_MIB').default('4096'),
  option('--disk-mib <number>', 'disk space of a run', 'CADASTRE_EXECUTOR_DISK_MIB').default('10240'),
  option(
    '--processors <number>',
    'processors of a run (default: those of the machine, divided by the capacity)',
    'CADASTRE_EXECUTOR_PROCESSORS',
  ),
  option(
    '--permitted-hosts <list>',
    'local hosts, addresses and networks that runs can reach',
    'CADASTRE_EXECUTOR_PERMITTED_HOSTS',
  ).default(''),
  option('--grace <seconds>', 'how long phases can run after the request to stop', 'CADASTRE_EXECUTOR_GRACE').default(
    String(DEFAULT_GRACE_SECONDS),
  ),
];

/** Creates the command that executes runs. */
export const createExecutorCommand = (name: string): Command => {
  const command = new Command(name).description('plans and applies the runs of remote workspaces; needs no open port');
  for (const one of OPTIONS) command.addOption(one);
  return command
    .option('--check', 'print what the executor would use, and exit')
    .addHelpText('after', HELP)
    .action(execute);
};
