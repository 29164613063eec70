import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cached.js';
import { digest } from './example-programs.js';
import { ROOT } from './folders.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

const SOURCES = 'test/support/foreign-verifiers';

/** After a flipped byte, fsck can wait for ever. */
const TIMEOUT_MS = 60_000;

/** Programs that verify transparency logs, and contain nothing of Cadastre. */
export type ForeignVerifiers = {
  /** Our program with the libraries golang.org/x/mod/sumdb and transparency-dev/formats. */
  readonly libraries: string;
  /** The command fsck of transparency.dev's Tessera. */
  readonly fsck: string;
};

/** Builds the programs. Before that, gofmt and go vet must have no findings. Fails, and never skips, without Go. */
export const buildForeignVerifiers = async (): Promise<ForeignVerifiers> => {
  requirePrograms('go');
  const files = ['main.go', 'go.mod', 'go.sum'].map((file) => readFile(join(ROOT, SOURCES, file), 'utf8'));
  const name = `foreign-verifiers-${process.arch}-${digest(...(await Promise.all(files)))}`;
  const folder = await cached(name, async (building) => {
    const go = (await run('bash', [join(ROOT, 'test/support/install-go')])).stdout.trim();
    const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-modcacherw' };
    const options = { cwd: join(ROOT, SOURCES), env };
    const { stdout: unformatted } = await run(`${go}fmt`, ['-l', '.'], options);
    if (unformatted !== '') throw new Error(`gofmt would change ${unformatted}`);
    await run(go, ['vet', '.'], options);
    await run(go, ['build', '-trimpath', '-o', join(building, 'libraries'), '.'], options);
    const fsck = 'github.com/transparency-dev/tessera/cmd/fsck';
    await run(go, ['build', '-trimpath', '-o', join(building, 'fsck'), fsck], options);
  });
  return { libraries: join(folder, 'libraries'), fsck: join(folder, 'fsck') };
};

/** Returns whether a program prints that the verification succeeded. The exit code of fsck is 0 also after a failure. */
export const succeeds = async (program: string, ...parameters: readonly string[]): Promise<boolean> => {
  try {
    const { stdout, stderr } = await run(program, parameters, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' });
    return /^(?:I\d.*\] )?Successfully/m.test(`${stdout}${stderr}`);
  } catch (error) {
    // A program that cannot be started has no exit code and was not killed.
    const { code, killed = false } = error as { readonly code?: unknown; readonly killed?: boolean };
    if (typeof code !== 'number' && !killed) throw error;
    return false;
  }
};
