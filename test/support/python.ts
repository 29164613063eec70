import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cached.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

/** The first call on a machine downloads the packages. */
export const INSTALL_PYTHON_TIMEOUT_MS = 5 * 60_000;

/**
 * Returns a Python in an environment with the packages of a file. It is made once for each content of the file. Fails, and
 * never skips, without Python.
 */
export const installPython = async (name: string, requirements: string): Promise<string> => {
  requirePrograms('python3');
  const version = await run('python3', ['--version']);
  const digest = createHash('sha256').update(`${version.stdout}${await readFile(requirements, 'utf8')}`);
  const folder = await cached(`${name}-${digest.digest('hex').slice(0, 16)}`, async (building) => {
    await run('python3', ['-m', 'venv', building]);
    await run(join(building, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--requirement', requirements]);
  });
  return join(folder, 'bin/python');
};
