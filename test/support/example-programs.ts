import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './folders.js';
import { cached } from './cached.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

const PYTHON = 'examples/python-inventory';
const GO = 'examples/go-notices';

/** Returns a digest of texts. The name of a cached folder has it, so that a change makes another folder. */
export const digest = (...texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);

const readSources = (folder: string, files: readonly string[]): Promise<string[]> =>
  Promise.all(files.map((file) => readFile(join(ROOT, folder, file), 'utf8')));

/** Returns a Python in an environment that has what the example requires. Fails, and never skips, without Python. */
export const installPythonExample = async (): Promise<string> => {
  requirePrograms('python3');
  const version = await run('python3', ['--version']);
  const requirements = await readSources(PYTHON, ['requirements.txt']);
  const folder = await cached(`python-${digest(version.stdout, ...requirements)}`, async (building) => {
    await run('python3', ['-m', 'venv', building]);
    const install = ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', '-r', 'requirements.txt'];
    await run(join(building, 'bin/python'), install, { cwd: join(ROOT, PYTHON) });
  });
  return join(folder, 'bin/python');
};

/**
 * Returns the example in Go as a program. Before it is built, gofmt and go vet must have no findings. Fails, and never skips,
 * without Go.
 */
export const buildGoExample = async (): Promise<string> => {
  const sources = await readSources(GO, ['main.go', 'go.mod', 'go.sum']);
  const folder = await cached(`go-notices-${process.arch}-${digest(...sources)}`, async (building) => {
    const go = (await run('bash', [join(ROOT, 'test/support/install-go')])).stdout.trim();
    const options = { cwd: join(ROOT, GO), env: { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-modcacherw' } };
    const { stdout: unformatted } = await run(`${go}fmt`, ['-l', '.'], options);
    if (unformatted !== '') throw new Error(`gofmt would change ${unformatted}`);
    await run(go, ['vet', '.'], options);
    await run(go, ['build', '-trimpath', '-o', join(building, 'go-notices'), '.'], options);
  });
  return join(folder, 'go-notices');
};
