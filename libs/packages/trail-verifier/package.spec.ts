import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../../test/support/folders.js';
import {
  createSampleLog,
  formatSampleExport,
  listSampleLines,
  signSampleCheckpoint,
} from '../../../test/support/trail-log.js';

const run = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-verifier-package-'));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '--project', 'libs/packages/trail-verifier', '--outDir', folder], { cwd: ROOT });
  await run(process.execPath, ['libs/packages/package.build.ts', 'trail-verifier', folder], { cwd: ROOT });
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the package of the verifier', () => {
  it('verifies an export in a folder without other packages', async () => {
    const log = createSampleLog(10);
    const file = join(folder, 'trail.ndjson');
    await writeFile(file, formatSampleExport(await signSampleCheckpoint(log), await listSampleLines(log)));
    const { bin, dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      readonly bin: Readonly<Record<string, string>>;
      readonly dependencies?: unknown;
    };
    const program = join(folder, bin['cadastre-verify'] ?? '');

    expect(dependencies).toBeUndefined();
    expect(await readFile(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    const verified = await run(process.execPath, [program, 'verify', file, '--key', log.verifierKey]);
    expect(verified.stdout).toMatch(/^VERIFIED\n/);
    const other = createSampleLog(1).verifierKey;
    await expect(run(process.execPath, [program, 'verify', file, '--key', other])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NOT VERIFIED (signature)') as unknown,
    });
  });
});
