import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { runProgram } from './run-program.js';

type Unit = {
  readonly file: string;
  /** Name of the file with which systemd checks the unit. */
  readonly instance: string;
  /** The exposure in tenths. A unit without any hardening has 96. */
  readonly highestExposure: number;
};

const UNITS: readonly Unit[] = [
  { file: 'cadastre@.service', instance: 'cadastre@serve.service', highestExposure: 15 },
  // The sandbox of runs needs namespaces, mounts and all system calls.
  { file: 'cadastre-executor.service', instance: 'cadastre-executor.service', highestExposure: 45 },
];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-systemd-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const readUnit = (file: string): Promise<string> => readFile(join(ROOT, 'deploy/systemd', file), 'utf8');

/** Writes an instance of the unit with the Node of this machine. */
const writeInstance = async ({ file, instance }: Unit): Promise<string> => {
  const path = join(folder, instance);
  await writeFile(path, (await readUnit(file)).replace('/usr/bin/node', process.execPath));
  return path;
};

describe.each(UNITS)('the unit $file of systemd', (unit) => {
  it('is valid', async () => {
    const { code, stderr } = await runProgram('systemd-analyze', ['verify', await writeInstance(unit)]);
    expect([stderr, code]).toEqual(['', 0]);
  });

  it('restricts the process to what it needs', async () => {
    const { code, stdout } = await runProgram('systemd-analyze', [
      'security',
      '--offline=true',
      `--threshold=${unit.highestExposure}`,
      await writeInstance(unit),
    ]);
    expect([stdout.split('\n').at(-2), code]).toEqual([expect.stringContaining('OK'), 0]);
  });
});

it('gives each process of the server a writable data folder', async () => {
  const unit = await readUnit('cadastre@.service');
  expect(unit).toContain('CADASTRE_DATA=/var/lib/cadastre/%i\n');
  expect(unit).toContain('StateDirectory=cadastre/%i\n');
});

it('lets executors create sandboxes, and stop later than their runs', async () => {
  const unit = await readUnit('cadastre-executor.service');
  const isolated = await readFile(join(ROOT, 'docs/how-to/isolate-runs.md'), 'utf8');
  const forbidden = /^\| systemd +\| no (.*?) \|$/m.exec(isolated)?.[1]?.match(/`(\w+)`/g) ?? [];
  expect(forbidden.length).toBeGreaterThan(5);
  for (const setting of forbidden) expect(unit).not.toContain(`\n${setting.replaceAll('`', '')}=`);
  const grace = Number(/CADASTRE_EXECUTOR_GRACE=(\d+)/.exec(unit)?.[1]);
  const stop = Number(/^TimeoutStopSec=(\d+)min$/m.exec(unit)?.[1]) * 60;
  expect(stop).toBeGreaterThanOrEqual(grace + 900);
});
