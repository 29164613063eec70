import { execFile } from 'node:child_process';
import { glob, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { describeMissingPrograms, listNeeds } from '../support/programs.js';

const run = promisify(execFile);

/** Programs that npm and the shell scripts of the tests need anyway, and Docker, which only a setting selects. */
const EVERYWHERE = ['bash', 'cp', 'docker', 'nice', 'node', 'npm', 'script', 'sh', 'tar'];

/** The names of programs in calls of the functions that run them with a list of arguments. */
const PROGRAM = /\b(?:run|runProgram|spawn|spawnSync|execFile|execFileSync)\(\s*'([a-z][\w.-]*)', (?:\[|args\b)/g;

const programsOf = (specs: readonly string[]): readonly string[] => listNeeds(ROOT, specs).programs;

describe('the programs that tests need', () => {
  it('are listed for every test that runs one', async () => {
    const unlisted: string[] = [];
    for await (const file of glob('{apps,libs,test}/**/*.ts', {
      cwd: ROOT,
      exclude: ['test/bench/**', '**/*.build.ts'],
    })) {
      const text = await readFile(join(ROOT, file), 'utf8');
      if (!text.includes("'node:child_process'") && !text.includes('run-program.js')) continue;
      if (['test/support/programs.ts', 'test/run.ts'].includes(file)) continue;
      const listed = [...programsOf([file]), ...EVERYWHERE];
      for (const [, program = ''] of text.matchAll(PROGRAM))
        if (!listed.includes(program)) unlisted.push(`${file} runs ${program}`);
    }
    expect(unlisted).toEqual([]);
  });

  it('are listed by the files that a spec imports, and are none for a spec that runs no program', () => {
    expect(programsOf(['libs/organizations/ssh-keys/ssh-keys.controller.spec.ts'])).toEqual([]);
    expect(programsOf(['libs/storage/blob-store/s3-blobs.spec.ts'])).toEqual(['java', 'mvn']);
    expect(listNeeds(ROOT, ['test/deploy/chart.spec.ts'])).toEqual({
      programs: ['go'],
      scripts: ['test/deploy/install-tools'],
    });
  });

  it('are reported with the command that installs them, or with the names of their packages', () => {
    const command = 'apt-get update && apt-get install --yes --no-install-recommends gnupg zip';
    expect(describeMissingPrograms(['gpg', 'zip'], true)).toContain(`\n  sudo sh -c '${command}'\n`);
    expect(describeMissingPrograms(['gpg', 'zip'], false)).toContain('Debian and Ubuntu contain them: gnupg zip\n');
  });
});

describe('npm test', () => {
  /** A folder of programs that is the only entry of PATH. */
  let bin: string;

  beforeAll(async () => {
    bin = await mkdtemp(join(tmpdir(), 'cadastre-programs-'));
    for (const program of ['bash', 'sh', 'dirname', 'sed']) await symlink(`/bin/${program}`, join(bin, program));
  });

  afterAll(() => rm(bin, { recursive: true, force: true }));

  const runTests = (...args: readonly string[]) =>
    run(process.execPath, ['test/run.ts', ...args], { cwd: ROOT, env: { PATH: bin } });

  it('names the missing programs of the selected tests, and runs none', async () => {
    await expect(runTests('test/docs/commands', '--listTests')).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('lacks: curl, gpg, jq, openssl, ssh-keygen, zip.\n'),
    });
  });

  it('runs tests that need no program on a machine without them', async () => {
    const { stdout } = await runTests('libs/organizations/ssh-keys/ssh-key.spec', '--listTests');
    expect(stdout).toBe(`${join(ROOT, 'libs/organizations/ssh-keys/ssh-key.spec.ts')}\n`);
  });
});
