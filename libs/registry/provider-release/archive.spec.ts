import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ZipFile } from 'yazl';
import { checkArchive, computeFileDigest } from './index.js';
import { expectRefusal } from './spec.js';

let folder: string;
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-archive-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const path = (): string => join(folder, `${(count += 1)}.zip`);

const zipped = async (...files: readonly (readonly [name: string, mode: number])[]): Promise<string> => {
  const zip = new ZipFile();
  for (const [name, mode] of files) zip.addBuffer(Buffer.from('#!/bin/sh\n'), name, { mode });
  zip.end();
  const at = path();
  await pipeline(zip.outputStream, createWriteStream(at));
  return at;
};

/** Makes a zip and then renames its entry to a name of the same length that the zip library would refuse. */
const renamed = async (from: string, to: string): Promise<string> => {
  const at = await zipped([from, 0o100755]);
  await writeFile(at, Buffer.from((await readFile(at)).toString('latin1').replaceAll(from, to), 'latin1'));
  return at;
};

const EXECUTABLE = 0o100755;
const scaffold = { name: 'scaffold', os: 'linux' };

describe('the zip of a provider', () => {
  it.each([
    'terraform-provider-scaffold',
    'terraform-provider-scaffold_v1.0.0',
    'terraform-provider-scaffold_v1.0.0_x5',
  ])('is accepted with the program %s', async (program) => {
    const at = await zipped(['LICENSE', 0o100644], [program, EXECUTABLE], ['docs/index.md', 0o100644]);
    await expect(checkArchive(at, scaffold)).resolves.toBeUndefined();
  });

  it.each(['terraform-provider-other_v1.0.0', 'terraform-provider-scaffolding', 'bin/terraform-provider-scaffold'])(
    'is rejected if its program is %s',
    async (program) => {
      await expectRefusal(
        checkArchive(await zipped([program, EXECUTABLE]), scaffold),
        /has no file terraform-provider-scaffold or terraform-provider-scaffold_v… at its top$/,
      );
    },
  );

  it('must have an executable program, except on Windows, where zips have no such flag', async () => {
    const program = 'terraform-provider-scaffold_v1.0.0';
    await expectRefusal(
      checkArchive(await zipped([program, 0o100644]), scaffold),
      /^terraform-provider-scaffold_v1.0.0 in .* is not executable: chmod \+x it, then zip it again$/,
    );
    const windows = checkArchive(await zipped([`${program}.exe`, 0o100644]), { name: 'scaffold', os: 'windows' });
    await expect(windows).resolves.toBeUndefined();
  });

  it.each([
    ['xxxterraform-provider-scaffold', '../terraform-provider-scaffold'],
    ['xterraform-provider-scaffold', '/terraform-provider-scaffold'],
    ['xxxterraform-provider-scaffold', '..\\terraform-provider-scaffold'],
  ])('is rejected if an entry has a path outside its folder: %s renamed to %s', async (from, to) => {
    await expectRefusal(checkArchive(await renamed(from, to), scaffold), /is not a zip that can be installed: /);
  });

  it.each([
    ['no zip', Buffer.from('hello')],
    ['an empty file', Buffer.alloc(0)],
  ])('is rejected if the file is %s', async (_, content) => {
    const at = path();
    await writeFile(at, content);
    await expectRefusal(checkArchive(at, scaffold), /is not a zip that can be installed: /);
  });

  it('fails with the error of the operating system if the file does not exist', async () => {
    await expect(checkArchive(join(folder, 'nowhere.zip'), scaffold)).rejects.toThrow('ENOENT');
  });
});

it('size and checksum cover the complete file', async () => {
  const at = path();
  await writeFile(at, 'x'.repeat(200_000));
  expect(await computeFileDigest(at)).toEqual({
    size: 200_000,
    sha256: '91e3faafd322bcdf160f3f0ce886acb092b9b9e2a1e8526b40f21a8898a8700b',
  });
});
