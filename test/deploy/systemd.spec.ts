import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { runProgram } from './run-program.js';

/** The exposure in tenths. A unit without any hardening has 96. */
const HIGHEST_EXPOSURE = 15;

let folder: string;
let unit: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-systemd-'));
  unit = await readFile(join(ROOT, 'deploy/systemd/cadastre@.service'), 'utf8');
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('the unit of systemd', () => {
  /** Writes an instance of the unit with the Node of this machine. */
  const writeInstance = async (): Promise<string> => {
    const file = join(folder, 'cadastre@serve.service');
    await writeFile(file, unit.replace('/usr/bin/node', process.execPath));
    return file;
  };

  it('is valid', async () => {
    const { code, stderr } = await runProgram('systemd-analyze', ['verify', await writeInstance()]);
    expect([stderr, code]).toEqual(['', 0]);
  });

  it('restricts the process to what it needs', async () => {
    const { code, stdout } = await runProgram('systemd-analyze', [
      'security',
      '--offline=true',
      `--threshold=${HIGHEST_EXPOSURE}`,
      await writeInstance(),
    ]);
    expect([stdout.split('\n').at(-2), code]).toEqual([expect.stringContaining('OK'), 0]);
  });

  it('gives each process a writable data folder', () => {
    expect(unit).toContain('CADASTRE_DATA=/var/lib/cadastre/%i\n');
    expect(unit).toContain('StateDirectory=cadastre/%i\n');
  });
});
