import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pack, type Headers } from 'tar-stream';
import { copyContainedFile, findWorkingDirectory } from './contained-files.js';
import { packArchive } from './pack-archive.js';
import { normalizeEntryPath, unpackArchive } from './unpack-archive.js';

let folder: string;
let target: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-archives-'));
  target = join(folder, 'target');
  await mkdir(target);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

type TestEntry = Headers & { readonly content?: string };

const makeArchive = async (...entries: readonly TestEntry[]): Promise<Buffer> => {
  const archive = pack();
  for (const { content = '', ...header } of entries) archive.entry(header, content);
  archive.finalize();
  return gzipSync(await buffer(archive));
};

const unpack = async (archive: Buffer, options: { maxBytes?: number; acceptsOutsideLinks?: boolean } = {}) =>
  unpackArchive(Readable.from([archive]), target, { maxBytes: 1_000_000, acceptsOutsideLinks: false, ...options });

describe('unpacking', () => {
  it('creates folders, files with their modes, and links', async () => {
    await unpack(
      await makeArchive(
        { name: './', type: 'directory' },
        { name: './modules/deep/main.tf', content: 'one' },
        { name: 'run.sh', mode: 0o755, content: '#!/bin/sh' },
        { name: 'link', type: 'symlink', linkname: 'modules/deep' },
        { name: 'empty/', type: 'directory' },
      ),
    );
    expect(await readFile(join(target, 'link/main.tf'), 'utf8')).toBe('one');
    expect((await stat(join(target, 'run.sh'))).mode & 0o777).toBe(0o755);
    expect((await stat(join(target, 'empty'))).isDirectory()).toBe(true);
  });

  it('takes the last of two files with the same name', async () => {
    await unpack(await makeArchive({ name: 'a', content: 'first' }, { name: 'a', content: 'second' }));
    expect(await readFile(join(target, 'a'), 'utf8')).toBe('second');
  });

  it.each([
    ['a name that leads out', { name: '../evil', content: 'x' }, 'outside of its folder'],
    ['a name that leads out from inside', { name: 'a/../../evil', content: 'x' }, 'outside of its folder'],
    ['an absolute name', { name: '/etc/evil', content: 'x' }, 'outside of its folder'],
    ['a hard link', { name: 'hard', type: 'link', linkname: 'a' }, 'no file, folder or link'],
    ['a device', { name: 'device', type: 'character-device' }, 'no file, folder or link'],
    ['a pipe', { name: 'pipe', type: 'fifo' }, 'no file, folder or link'],
    ['a link out of the folder', { name: 'a/link', type: 'symlink', linkname: '../../x' }, 'link out of its folder'],
    [
      'a link out of the folder through another link',
      { name: '.terraform', type: 'symlink', linkname: 'a/b/c/d/../../../../x' },
      'link out of its folder',
    ],
    ['an absolute link', { name: 'link', type: 'symlink', linkname: '/etc/passwd' }, 'link out of its folder'],
  ] as const)('refuses %s', async (_, entry, message) => {
    await expect(unpack(await makeArchive(entry))).rejects.toThrow(message);
  });

  it('refuses to write through a link, even into the folder itself', async () => {
    const link = { name: 'link', type: 'symlink', linkname: 'real' } as const;
    const through = { name: 'link/file', content: 'x' };
    await expect(unpack(await makeArchive({ name: 'real/', type: 'directory' }, link, through))).rejects.toThrow(
      'writes into "link", which is no folder',
    );
  });

  it('writes through no link that replaces a folder which was there', async () => {
    const entries = [
      { name: 'real/file', content: 'x' },
      { name: 'real', type: 'symlink', linkname: folder },
    ] as const;
    await expect(unpack(await makeArchive(...entries), { acceptsOutsideLinks: true })).rejects.toThrow(
      'replaces the folder',
    );
  });

  it('replaces a link by a file instead of writing to its target', async () => {
    await writeFile(join(folder, 'outside'), 'precious');
    const link = { name: 'link', type: 'symlink', linkname: join(folder, 'outside') } as const;
    await unpack(await makeArchive(link, { name: 'link', content: 'new' }), { acceptsOutsideLinks: true });
    expect(await readFile(join(folder, 'outside'), 'utf8')).toBe('precious');
    expect(await readFile(join(target, 'link'), 'utf8')).toBe('new');
  });

  it('refuses files that are too large together, before it has written them', async () => {
    const archive = await makeArchive({ name: 'a', content: 'x'.repeat(60) }, { name: 'b', content: 'x'.repeat(60) });
    await expect(unpack(archive, { maxBytes: 100 })).rejects.toThrow('more than 100 bytes');
  });

  it.each([
    ['text', Buffer.from('not an archive')],
    ['a gzip of something else', gzipSync('x'.repeat(2_000))],
    ['half of an archive', gzipSync('')],
  ])('refuses %s', async (name, content) => {
    const archive = name.startsWith('half')
      ? (await makeArchive({ name: 'a', content: 'x'.repeat(10_000) })).subarray(0, 60)
      : content;
    await expect(unpack(archive)).rejects.toThrow('damaged');
  });
});

describe('packing', () => {
  it('keeps files, modes, links and empty folders, and leaves out providers', async () => {
    const source = join(folder, 'source');
    await mkdir(join(source, 'tree/.terraform/providers/x'), { recursive: true });
    await mkdir(join(source, 'tree/empty'));
    await writeFile(join(source, 'tree/.terraform/providers/x/binary'), 'large');
    await writeFile(join(source, 'tree/script'), '#!', { mode: 0o755 });
    await writeFile(join(source, 'tree/nothing'), '');
    await symlink('/somewhere/else', join(source, 'tree/link'));
    const file = join(folder, 'archive.tgz');
    await packArchive([{ name: 'tree', path: join(source, 'tree') }], file, (name) => name.endsWith('/providers'));
    await unpackArchive(createReadStream(file), target, { maxBytes: 1_000, acceptsOutsideLinks: true });
    expect((await stat(join(target, 'tree/script'))).mode & 0o777).toBe(0o755);
    expect((await stat(join(target, 'tree/nothing'))).size).toBe(0);
    expect((await stat(join(target, 'tree/empty'))).isDirectory()).toBe(true);
    expect(await readlink(join(target, 'tree/link'))).toBe('/somewhere/else');
    await expect(stat(join(target, 'tree/.terraform/providers'))).rejects.toThrow('ENOENT');
  });
});

describe('files of a run', () => {
  it('are copied if they are in the folder', async () => {
    await writeFile(join(target, 'state'), '{}');
    const copy = join(folder, 'copy');
    const md5 = createHash('md5').update('{}').digest('hex');
    expect(await copyContainedFile(target, join(target, 'state'), copy, 10)).toBe(md5);
    expect(await readFile(copy, 'utf8')).toBe('{}');
    expect(await copyContainedFile(target, join(target, 'missing'), copy, 10)).toBeNull();
  });

  it('are refused if they are links, in a linked folder, no files, or too large', async () => {
    await writeFile(join(folder, 'secret'), 'of the machine');
    await symlink(join(folder, 'secret'), join(target, 'link'));
    await symlink(folder, join(target, 'elsewhere'));
    await writeFile(join(target, 'large'), 'x'.repeat(11));
    const read = (name: string) => copyContainedFile(target, join(target, name), join(folder, 'copy'), 10);
    await expect(read('link')).rejects.toThrow('link is a link');
    await expect(read('elsewhere/secret')).rejects.toThrow('not a file of the run');
    await expect(read('large')).rejects.toThrow('at most 10');
    await mkdir(join(target, 'folder'));
    await expect(read('folder')).rejects.toThrow('not a file of the run');
  });
});

describe('the working directory', () => {
  it('may be a link inside of the configuration', async () => {
    await mkdir(join(target, 'live/prod'), { recursive: true });
    await symlink('live', join(target, 'current'));
    expect(await findWorkingDirectory(target, '/current/prod')).toBe(join(target, 'live/prod'));
    expect(await findWorkingDirectory(target, null)).toBe(target);
  });

  it.each(['missing', '../', 'outside', 'file', 'a\0b'])('is refused if it is %j', async (name) => {
    await symlink(folder, join(target, 'outside'));
    await writeFile(join(target, 'file'), '');
    await expect(findWorkingDirectory(target, name)).rejects.toThrow(/working directory/i);
  });
});

it('keeps names that look like paths out of the folder', () => {
  expect(normalizeEntryPath('./a//b/./c..d/..e')).toBe('a/b/c..d/..e');
});
