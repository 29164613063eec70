import { readdir, readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { waitUntil } from '../../../../test/support/product.js';
import { findSandbox } from './find-sandbox.js';
import type {
  Sandbox,
  SandboxCommand,
  SandboxedProcess,
  SandboxExit,
  SandboxLimits,
  SandboxSettings,
} from './sandbox.js';

export const MIB = 2 ** 20;

/** Node in a sandbox. */
export const NODE = '/run/cadastre/node';

export const buildSettings = (
  server: string,
  limits: Partial<SandboxLimits> = {},
  permittedHosts: readonly string[] = [],
): SandboxSettings => ({
  mode: 'on',
  limits: {
    memoryBytes: 256 * MIB,
    processes: 64,
    diskBytes: 32 * MIB,
    temporaryBytes: MIB,
    freeBytes: 0,
    processors: 1,
    ...limits,
  },
  server: new URL(server),
  permittedHosts,
});

const choice = await findSandbox(buildSettings('https://cadastre.test'));

/**
 * Why this machine can create no sandbox, or null. Where it is not null, the attacks do not run, and standard error says so.
 */
export const missingSandbox: string | null = 'problem' in choice ? choice.problem : null;
if (missingSandbox !== null) process.stderr.write(`Tests of the sandbox were not run. ${missingSandbox}\n`);

export const openSandbox = async (settings: SandboxSettings): Promise<Sandbox> => {
  const opened = await findSandbox(settings);
  if ('sandbox' in opened) return opened.sandbox;
  throw new Error(opened.problem);
};

export const startScript = (
  sandbox: Sandbox,
  script: string,
  command: Partial<SandboxCommand> = {},
): Promise<SandboxedProcess> =>
  sandbox.start({
    argv: ['/bin/sh', '-c', script],
    workingDirectory: '/',
    environment: {},
    mounts: [],
    seconds: 120,
    ...command,
  });

export type ScriptResult = SandboxExit & { readonly output: string; readonly errors: string };

export const collectResult = async ({ stdout, stderr, exit }: SandboxedProcess): Promise<ScriptResult> => {
  const [output, errors, result] = await Promise.all([text(stdout), text(stderr), exit]);
  return { output, errors, ...result };
};

/** Resolves when the output of a command contains a text. Reads all its output. */
export const waitForOutput = async ({ stdout, stderr }: SandboxedProcess, part: string): Promise<void> => {
  let output = '';
  stderr.resume();
  stdout.on('data', (chunk: Buffer) => {
    output += String(chunk);
  });
  await waitUntil(() => output.includes(part), `the command prints ${part}`);
};

/** Returns the arguments of all processes of this machine. */
export const listProcesses = async (): Promise<readonly string[]> => {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
};
