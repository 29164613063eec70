import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../support/folders.js';

const run = promisify(execFile);

export type ProgramResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a program in the folder of the sources. A code other than 0 is no error. */
export const runProgram = async (program: string, args: readonly string[]): Promise<ProgramResult> => {
  try {
    const { stdout, stderr } = await run(program, args, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number | string; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
};
