import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './folders.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

/** Resolves to the folder of an OPA. The first call on a machine builds it, which takes minutes. */
export const installOpa = async (): Promise<string> => {
  requirePrograms('go');
  return dirname((await run('bash', [join(ROOT, 'test/support/install-opa')])).stdout.trim());
};
