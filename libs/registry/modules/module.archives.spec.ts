import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { readBytes } from '#storage/blob-store';
import { packArchive, packModule, type ArchivedEntry } from '../../../test/support/registry-modules.js';
import { checkWhileReading } from './module.archives.js';

const PIECE = 16 * 1_024;

const toPieces = function* (content: Buffer): Generator<Buffer> {
  for (let start = 0; start < content.length; start += PIECE) yield content.subarray(start, start + PIECE);
};

const check = (archive: Buffer): Promise<Buffer> =>
  readBytes(Readable.from(checkWhileReading(Readable.from(toPieces(archive)))));

const MAIN: ArchivedEntry = { name: 'main.tf', text: '' };

describe('the archive of a module', () => {
  it.each([
    ['a file at its root', { 'main.tf': 'output "x" { value = 1 }' }],
    ['a file in the syntax of JSON', { './main.tf.json': '{}' }],
    ['a file of OpenTofu', { 'main.tofu': '' }],
    ['submodules only', { 'modules/one/main.tf': '' }],
    [
      'other files',
      { 'main.tf': '', 'examples/one/main.tf': '', '.github/x': '', 'image.png': randomBytes(200_000).toString('hex') },
    ],
  ])('is passed on unchanged with %s', async (_, files) => {
    const archive = await packModule(files as Record<string, string>);
    expect((await check(archive)).equals(archive)).toBe(true);
  });

  it.each<[string, ArchivedEntry, RegExp]>([
    ['a path outside', { name: 'a/../../x.tf', text: '' }, /path outside of the module/],
    ['an absolute path', { name: '/etc/x.tf', text: '' }, /path outside of the module/],
    ['a path of Windows', { name: 'C:/x.tf', text: '' }, /path outside of the module/],
    ['a backslash', { name: '..\\x.tf', text: '' }, /path outside of the module/],
    ['a path that is too long', { name: 'a'.repeat(2_000), text: '' }, /1024 characters/],
    ['a symbolic link', { name: 'a', type: 'symlink', linkname: 'main.tf' }, /only files and folders.*"a" is a link/],
    ['a hard link', { name: 'a', type: 'link', linkname: 'main.tf' }, /is a link/],
    ['a device', { name: 'a', type: 'character-device' }, /neither a file nor a folder/],
  ])('is refused with %s', async (_, entry, reason) => {
    await expect(check(await packArchive([MAIN, entry]))).rejects.toThrow(reason);
  });

  it('is refused without a file of the language where clients look for it', async () => {
    await expect(check(await packModule({ 'network/main.tf': '', 'modules/a/b/main.tf': '' }))).rejects.toThrow(
      /no \.tf file at its root/,
    );
    await expect(check(await packModule({}))).rejects.toThrow(/no \.tf file/);
  });

  it('is refused if it is damaged, empty, or no archive', async () => {
    const archive = await packModule({ 'main.tf': '', 'x.bin': randomBytes(100_000).toString('hex') });
    for (const content of [
      archive.subarray(0, archive.length / 2),
      Buffer.alloc(0),
      Buffer.from('text'),
      gzipSync('x'),
    ])
      await expect(check(content)).rejects.toThrow(/damaged/);
  });

  it.each([
    ['a zip file', Buffer.concat([Buffer.from('PK'), Buffer.alloc(1_024 * 1_024)])],
    ['text', Buffer.alloc(1_024 * 1_024, 'text ')],
    ['a tar archive that is not compressed', Buffer.alloc(1_024 * 1_024)],
  ])('is refused for the same reason each time if it is %s of many pieces', async (_, content) => {
    for (let round = 0; round < 10; round += 1)
      await expect(check(content)).rejects.toMatchObject({
        kind: 'unprocessable',
        message: expect.stringMatching(/damaged/),
      });
  });

  it('is refused with long headers for each of many small files', async () => {
    const long = { comment: 'x'.repeat(900_000) };
    const entries = Array.from({ length: 30 }, (_, n) => ({ name: `${n}.tf`, text: '', pax: long }));
    await expect(check(await packArchive(entries))).rejects.toThrow(/too many bytes that belong to no file/);
  });

  it('is accepted with as many files as it may have, each with headers of its own', async () => {
    const entries = Array.from({ length: 10_000 }, (_, n) => ({ name: `${n}.tf`, text: 'x', pax: { mtime: '1.5' } }));
    const archive = await packArchive(entries);
    expect((await check(archive)).equals(archive)).toBe(true);
  });

  it('leaves no listeners behind for the pieces of a large archive', async () => {
    const warnings: string[] = [];
    const warn = (warning: Error): number => warnings.push(warning.name);
    process.on('warning', warn);
    const archive = await packModule({ 'main.tf': '', 'x.bin': randomBytes(3_000_000).toString('latin1') });
    await check(archive);
    // Node emits warnings in the next tick.
    await new Promise(setImmediate);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('is refused if it has too many files, or too many bytes', async () => {
    const many = Array.from({ length: 10_001 }, (_, n) => ({ name: `${n}.tf`, text: '' }));
    await expect(check(await packArchive(many))).rejects.toThrow(/more than 10000 files/);
    const large = [{ ...MAIN, pax: { size: String(257 * 1_024 * 1_024) } }];
    await expect(check(await packArchive(large))).rejects.toThrow(/more than 256 MiB/);
  });
});
