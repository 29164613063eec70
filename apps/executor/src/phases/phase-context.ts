import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '#platform/kernel';
import type { ClaimedPhase, ExecutorApi, PhaseReport } from '../api/executor-api.js';
import type { PhaseJob } from '../api/phase-job.js';
import type { FindAddresses } from '../credentials/vault-sessions.js';
import type { DocumentReader } from '../documents/document-reader.js';
import { findWorkingDirectory } from '../archives/contained-files.js';
import { RunError } from '../executor-error.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { IacTool, ToolFinder } from '../tools/tool-finder.js';
import { renderCliConfig } from './cli-config.js';
import { CommandRunner, type OutputSink, type ToolCommand } from './command-runner.js';
import { buildEnvironment, toSshCommand } from './environment.js';
import type { PhaseFolder } from './phase-folder.js';
import type { PhaseStop } from './phase-stop.js';
import type { RunLog } from './run-log.js';
import { renderVariableFiles, type VariableValue } from './variable-files.js';

/** What all phases of an executor share. */
export type PhaseDependencies = {
  readonly api: ExecutorApi;
  readonly sandbox: Sandbox;
  /** Refuses hosts that runs must not reach. */
  readonly findAddresses: FindAddresses;
  readonly tools: ToolFinder;
  readonly documents: DocumentReader;
  /** The folder of states that the server did not accept. */
  readonly keptStates: string;
  /** Certificates that commands trust. */
  readonly authorities: string;
  /** Bytes that a run can have on the disk. */
  readonly maxBytes: number;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** What the steps of one phase share. */
export type PhaseContext = PhaseDependencies & {
  readonly claimed: ClaimedPhase;
  /** The nonce that the executor sent when it read the job. */
  readonly nonce: string;
  readonly job: PhaseJob;
  readonly folder: PhaseFolder;
  readonly log: RunLog;
  readonly stop: PhaseStop;
  /** Returns the seconds until the time limit. */
  readonly getSecondsLeft: () => number;
};

export type PhaseEnd = Omit<PhaseReport, 'fence'>;

/** Runs terraform in the working directory of a run. */
export type RunTool = {
  readonly runner: CommandRunner;
  readonly environment: Readonly<Record<string, string>>;
  /** With the SSH key of the workspace, until `removeSshKey` is called. */
  readonly initEnvironment: Readonly<Record<string, string>>;
  /** The options for the values of variables. */
  readonly variableOptions: readonly string[];
};

const SSH_KEY = 'ssh-key';
const GIT_CONFIG = 'gitconfig';
const CLI_CONFIG = 'cli.tfrc';
const AUTHORITIES = 'ca.pem';

const renderGitConfig = (sshCommand: string): string => `[core]\n\tsshCommand = "${sshCommand}"\n`;

/** Writes what the commands of a run read, and returns how to run them. */
export const prepareTool = async (
  context: PhaseContext,
  tool: IacTool,
  variables: readonly VariableValue[],
): Promise<
  RunTool & { readonly sandboxed: ReturnType<PhaseFolder['mount']>['sandboxed']; readonly workingDirectory: string }
> => {
  const { job, folder, sandbox, stop, getSecondsLeft: getSeconds } = context;
  const workingDirectory = await findWorkingDirectory(folder.tree, job['working-directory']);
  const { mounts, program, sandboxed } = folder.mount(sandbox, tool);
  const hasKey = job['ssh-key'] !== null;
  const paths = {
    temporary: join(sandboxed.space, 'tmp'),
    home: join(sandboxed.space, 'home'),
    gitConfig: hasKey ? sandboxed.file(GIT_CONFIG) : null,
    sshKey: hasKey ? sandboxed.file(SSH_KEY) : null,
    cliConfig: sandboxed.file(CLI_CONFIG),
    authorities: sandboxed.file(AUTHORITIES),
  };
  const files = renderVariableFiles(variables);
  const write = (name: string, content: string): Promise<void> =>
    writeFile(join(folder.files, name), content, { mode: 0o600 });
  for (const { name, content } of files) await write(name, content);
  await write(CLI_CONFIG, renderCliConfig(context.api.connection.server, job));
  await write(AUTHORITIES, context.authorities);
  if (hasKey) {
    // ssh rejects a key whose last line has no end.
    await write(SSH_KEY, `${(job['ssh-key'] ?? '').trimEnd()}\n`);
    await write(GIT_CONFIG, renderGitConfig(toSshCommand(paths)));
  }
  const seenDirectory = sandboxed.of(workingDirectory);
  return {
    runner: new CommandRunner({ sandbox, mounts, tool, program, workingDirectory: seenDirectory, stop, getSeconds }),
    environment: buildEnvironment(job, { ...paths, gitConfig: null, sshKey: null }),
    initEnvironment: buildEnvironment(job, paths),
    variableOptions: files.map(({ name }) => `-var-file=${sandboxed.file(name)}`),
    sandboxed,
    workingDirectory,
  };
};

/** Removes the SSH key after `init`. Only downloads of modules need it, and providers and provisioners could read it. */
export const removeSshKey = async ({ folder }: PhaseContext): Promise<void> => {
  for (const name of [SSH_KEY, GIT_CONFIG]) await rm(join(folder.files, name), { force: true });
};

/** Runs a command whose output is a part of the log. Rejects with a `RunError` if it fails. */
export const runLogged = async (
  { stop, log }: PhaseContext,
  runner: CommandRunner,
  command: ToolCommand,
  createSink: () => OutputSink = () => log.createSink(),
): Promise<void> => {
  stop.throwIfRequested();
  const { code, signal } = await runner.stream(command, createSink);
  if (code === 0) return;
  stop.throwIfRequested();
  throw new FailedCommandError(`${runner.describe(command)} failed with ${signal ?? `exit code ${code}`}.`);
};

/** A command that has described its failure in the log. */
export class FailedCommandError extends RunError {
  constructor(
    message: string,
    /** Whether the plan has it, although the command failed: generated configuration can be invalid. */
    readonly hasGeneratedConfiguration = false,
  ) {
    super(message);
  }
}
