import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ROOT } from '../support/folders.js';
import { freshDatabase } from '../support/database.js';
import { inDocker } from '../support/servers/containers.js';
import { serversNamed } from '../support/servers/index.js';
import { WITHOUT_SYNCS } from '../support/servers/servers.js';

const SUPPORT = join(ROOT, 'test/support/jest');

const SPECS = {
  'failing.spec.mjs': `
    import { beforeAll, beforeEach, describe, it } from '@jest/globals';
    const never = () => new Promise(() => undefined);
    it('hangs', never, 20);
    describe('a failed beforeAll', () => {
      beforeAll(() => { throw new Error('first', { cause: new Error('why') }); });
      beforeAll(() => { console.log('RUN'); });
      it('skips its test', () => { console.log('RUN'); });
      describe('and a block in it', () => { it('skips its test', () => { console.log('RUN'); }); });
    });
    describe('a hanging beforeEach', () => {
      beforeEach(never, 20);
      it('skips its test', () => { console.log('RUN'); });
    });
    it('passes after them', () => undefined);`,
  'blocked.spec.mjs': `
    import { spawnSync } from 'node:child_process';
    import { it } from '@jest/globals';
    it('waits for a child for ever', () => void spawnSync(process.execPath, ['-e', '0;setInterval(() => 0, 1_000)']), 20);`,
  'endless.spec.mjs': `
    import { it } from '@jest/globals';
    const repeatForEver = () => { for (;;); };
    it('repeats a loop for ever', repeatForEver, 20);`,
  'ending.spec.mjs': `
    import { it } from '@jest/globals';
    it('ends the worker', () => process.exit(0));`,
};

type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
};

let folder: string;
let code: number;
let output: string;
let report: Report;

/** Runs Jest on the specs in a folder, with the runner and setup files of jest.config.js. */
const runJest = async (): Promise<void> => {
  const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
  const file = join(folder, 'report.json');
  const env = { ...process.env, CADASTRE_TEST_NAME_PATTERN: '' };
  const all = [jest, '--rootDir', folder, '--json', '--outputFile', file];
  const ended = await promisify(execFile)(process.execPath, all, { cwd: folder, env }).then(
    (streams) => ({ ...streams, code: 0 }),
    (error: unknown) => error as { readonly code: number; readonly stdout: string; readonly stderr: string },
  );
  code = ended.code;
  output = ended.stdout + ended.stderr;
  report = JSON.parse(await readFile(file, 'utf8')) as Report;
};

const resultOf = (name: string) => report.testResults.find((result) => result.name.endsWith(name));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-runner-'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const config = {
    testMatch: ['**/*.spec.mjs'],
    moduleFileExtensions: ['mjs', 'js'],
    runner: join(SUPPORT, 'runner.js'),
    maxWorkers: 2,
    transform: {},
    setupFiles: [join(SUPPORT, 'resolve-compiled.ts')],
    setupFilesAfterEnv: [join(SUPPORT, 'circus-rules.ts')],
    reporters: ['default', [join(SUPPORT, 'watchdog.ts'), { grace: 500 }]],
    cacheDirectory: join(folder, 'cache'),
    watchman: false,
  };
  await writeFile(join(folder, 'jest.config.json'), JSON.stringify(config));
  for (const [name, text] of Object.entries(SPECS)) await writeFile(join(folder, name), text);
  await runJest();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the test runner', () => {
  it('fails a test that hangs, and runs the next one', () => {
    const { assertionResults, message } = resultOf('failing.spec.mjs') ?? {};
    expect(assertionResults?.map(({ title, status }) => [title, status])).toEqual([
      ['hangs', 'failed'],
      ['(beforeAll)', 'failed'],
      ['skips its test', 'failed'],
      ['skips its test', 'failed'],
      ['(beforeEach)', 'failed'],
      ['skips its test', 'failed'],
      ['passes after them', 'passed'],
    ]);
    expect(message).toContain('hangs\n    did not end within 20 ms');
  });

  it('names the error of a failed hook with its cause, and runs no test after it', () => {
    const message = resultOf('failing.spec.mjs')?.message ?? '';
    expect(message).toMatch(/a failed beforeAll > \(beforeAll\)\n {4}Error: first[^]*\[cause\]: Error: why/);
    expect(message).toContain('and a block in it > skips its test\n    not run, because a beforeAll hook failed');
    expect(message).toContain('not run, because a beforeEach hook failed');
    expect(output).not.toContain('RUN');
  });

  it('fails a file whose worker ends', () => {
    expect(resultOf('ending.spec.mjs')?.message).toContain('Worker exited unexpectedly');
  });

  it('ends a worker that waits for a child or repeats a loop, and prints what it was doing', () => {
    expect(resultOf('blocked.spec.mjs')?.message).toContain('Worker exited unexpectedly');
    expect(resultOf('endless.spec.mjs')?.message).toContain('Worker exited unexpectedly');
    expect(output).toMatch(/blocked\.spec\.mjs\nIt was in: waits for a child for ever\n[^]*? -e 0;setInterval/);
    expect(output).toMatch(/endless\.spec\.mjs\nIt was in: repeats a loop for ever\n/);
  });

  it('exits with 1 if a test failed', () => {
    expect(code).toBe(1);
  });
});

describe('the servers of the tests', () => {
  it('do not sync the data of Postgres', async () => {
    const database = await freshDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ name: string; setting: string }>(
      'select name, setting from pg_settings where name = any ($1)',
      [Object.keys(WITHOUT_SYNCS)],
    );
    await client.end();
    await database.drop();
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual(WITHOUT_SYNCS);
  });

  it('are refused with the accepted names if CADASTRE_TEST_SERVERS names others', async () => {
    await expect(serversNamed('docker')).rejects.toThrow(
      'CADASTRE_TEST_SERVERS: must be "embedded", "containers" or "system", got "docker"',
    );
  });

  it('are embedded, unless CADASTRE_TEST_SERVERS names containers', async () => {
    const [byDefault, embeddedByName, inContainers] = await Promise.all(
      [undefined, 'embedded', 'containers'].map((name) => serversNamed(name)),
    );
    expect(byDefault).toBe(embeddedByName);
    expect(inContainers).not.toBe(embeddedByName);
  });

  it('come with advice if containers are chosen and no Docker daemon answers', async () => {
    const refusal = new Error('Could not find a working container runtime strategy');
    const started = inDocker(() => Promise.reject(refusal));
    await expect(started).rejects.toMatchObject({ message: expect.stringContaining('Start Docker'), cause: refusal });
    await expect(inDocker(() => Promise.reject(new Error('no such image')))).rejects.toThrow('no such image');
  });
});
