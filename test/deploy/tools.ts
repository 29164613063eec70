import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/folders.js';
import { runProgram, type ProgramResult } from './run-program.js';

const run = promisify(execFile);

/** The first call on a machine builds the tools. CI does this before the tests. */
export const INSTALL_TIMEOUT_MS = 15 * 60_000;

let folder: Promise<string> | null = null;

const installTools = async (): Promise<string> =>
  (await run('bash', [join(ROOT, 'test/deploy/install-tools')])).stdout.trim();

/** Returns the path of a file that `install-tools` provides. Fails, and never skips, if the machine cannot have it. */
export const findToolFile = async (name: string): Promise<string> => {
  folder ??= installTools();
  return join(await folder, name);
};

export const runTool = async (
  tool: 'helm' | 'kubeconform' | 'promtool',
  ...args: readonly string[]
): Promise<ProgramResult> => runProgram(await findToolFile(tool), args);
