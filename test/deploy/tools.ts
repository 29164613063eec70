import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/folders.js';

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

export type ToolResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a program in the folder of the sources. A code other than 0 is no error. */
export const runProgram = async (program: string, args: readonly string[]): Promise<ToolResult> => {
  try {
    const { stdout, stderr } = await run(program, args, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number | string; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
};

export const runTool = async (
  tool: 'helm' | 'kubeconform' | 'promtool',
  ...args: readonly string[]
): Promise<ToolResult> => runProgram(await findToolFile(tool), args);
