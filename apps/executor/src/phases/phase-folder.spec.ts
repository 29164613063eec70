import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PhaseFolder, prepareBackend } from './phase-folder.js';

const execute = promisify(execFile);

let parent: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'cadastre-phase-'));
});

afterEach(() => rm(parent, { recursive: true }));

it.each([
  ['paths that are longer than the system accepts', 'for n in $(seq 24); do mkdir $d && cd $d || break; done'],
  ['folders that are closed to their owner', 'mkdir -p a/b && touch a/b/c && chmod 0 a/b a'],
])('is removed with %s', async (_, script) => {
  const folder = new PhaseFolder(join(parent, 'phase'));
  await folder.create();
  const name = 'd=$(printf %0200d 0)';
  await execute('sh', ['-c', `cd "$0" && ${name} && ${script}`, folder.tree]);
  await folder.remove();
  expect(await readdir(parent)).toEqual([]);
});

describe('the backend of a run', () => {
  /** Returns the last override file in the order of the tools, after these files were in the configuration. */
  const findLastOverride = async (...files: readonly string[]): Promise<string> => {
    for (const file of files) await writeFile(join(parent, file), 'terraform { backend "s3" {} }');
    await prepareBackend(parent, '/work');
    const overrides = (await readdir(parent)).filter((name) => /override\.(tf|tofu)(\.json)?$/.test(name));
    return overrides.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).at(-1) ?? '';
  };

  it.each([
    [[]],
    [['override.tf', 'a_override.tf.json']],
    [['zzzz_override.tf', 'é_override.tf']],
    [['zzz_backend_override.tf.json', 'zzz_backend_override.tofu.json']],
    [['zzz_backend_override.tofu']],
    [['zzzz_override.tofu', 'zzzz_override.tofu_override.tofu.json']],
  ])('is that of the executor with the files %j', async (files) => {
    const name = await findLastOverride(...files);
    expect(name).toMatch(/\.tf\.json$/);
    expect(await readFile(join(parent, name), 'utf8')).toContain('"/work/state/terraform.tfstate"');
    expect(await readdir(parent)).not.toContain(name.replace(/\.tf\.json$/, '.tofu.json'));
  });

  it('is refused after a name that is too long', async () => {
    await expect(findLastOverride(`${'z'.repeat(240)}_override.tf`)).rejects.toThrow('is too long');
  });
});
