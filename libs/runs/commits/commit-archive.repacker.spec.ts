import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { extract, pack, type Headers } from 'tar-stream';
import { MIB, readBytes } from '#storage/blob-store';
import { ArchivedTexts, repackCommitArchive } from './commit-archive.repacker.js';

type Entry = Headers & { readonly text?: string; readonly pax?: Readonly<Record<string, string>> };

const makeArchive = async (entries: readonly Entry[]): Promise<Buffer> => {
  const archive = pack();
  for (const { text, ...header } of entries) archive.entry(header, text ?? '');
  archive.finalize();
  return gzipSync(await readBytes(archive));
};

const toStream = (content: Buffer): Readable => Readable.from([content], { objectMode: false });

const repack = (content: Buffer): Promise<Buffer> =>
  readBytes(repackCommitArchive([{ content: toStream(content), folder: '' }]));

const list = async (archive: Buffer): Promise<readonly string[]> => {
  const entries = extract();
  entries.end(gunzipSync(archive));
  const listed: string[] = [];
  for await (const entry of entries) {
    listed.push(`${entry.header.name} ${(await readBytes(entry)).toString('utf8')}${entry.header.linkname ?? ''}`);
  }
  return listed;
};

describe('the archive of a commit', () => {
  it('loses its outer folder, and keeps files, folders and links within', async () => {
    const archive = await makeArchive([
      { name: 'network/', type: 'directory' },
      { name: 'network/main.tf', text: 'terraform {}' },
      { name: 'network/a/b/', type: 'directory' },
      { name: 'network/a/b/up.tf', type: 'symlink', linkname: '../../main.tf' },
    ]);
    expect(await list(await repack(archive))).toEqual(['main.tf terraform {}', 'a/b ', 'a/b/up.tf ../../main.tf']);
  });

  it.each<[string, Entry, RegExp]>([
    ['a path outside', { name: 'network/../../etc/passwd', text: 'x' }, /path outside/],
    ['a link to a path outside', { name: 'network/a', type: 'symlink', linkname: '../b' }, /leads out/],
    ['a link to an absolute path', { name: 'network/a', type: 'symlink', linkname: '/etc' }, /leads out/],
    [
      'a link above a folder that can be a link',
      { name: 'network/t', type: 'symlink', linkname: 'a/b/s/..' },
      /leads out/,
    ],
    ['a path that is too long', { name: `network/${'a'.repeat(5_000)}`, text: 'x' }, /4096 characters/],
    ['a size that is no number', { name: 'network/a', text: 'x', pax: { size: 'x' } }, /without size/],
    ['a size that is negative', { name: 'network/a', text: 'x', pax: { size: '-1' } }, /without size/],
    ['headers that are too large', { name: 'network/a', text: 'x', pax: { comment: 'x'.repeat(2 * MIB) } }, /1 MiB/],
    ['a link that leaves and returns', { name: 'network/a', type: 'symlink', linkname: '../network/b' }, /leads out/],
  ])('is refused with %s', async (_, entry, reason) => {
    await expect(repack(await makeArchive([entry]))).rejects.toThrow(reason);
  });

  it('keeps the permissions of files, and no set-user-ID bit', async () => {
    const archive = await repack(await makeArchive([{ name: 'network/a', mode: 0o4755, text: 'x' }]));
    const entries = extract();
    entries.end(gunzipSync(archive));
    for await (const entry of entries) {
      expect(entry.header.mode).toBe(0o755);
      entry.resume();
    }
  });

  it('with many files has more headers than may be between two files', async () => {
    const names = Array.from({ length: 1_500 }, (_, number) => ({ name: `network/${number}`, text: 'x' }));
    expect(await list(await repack(await makeArchive(names)))).toHaveLength(1_500);
    const large = await makeArchive([{ name: 'network/a', text: 'x'.repeat(5 * MIB) }]);
    expect((await list(await repack(large)))[0]).toHaveLength(5 * MIB + 2);
  });

  it('is refused if it never ends', async () => {
    const ended = new AbortController();
    const repacked = readBytes(
      repackCommitArchive([{ content: new Readable({ read: () => {} }), folder: '' }], ended.signal),
    );
    ended.abort();
    await expect(repacked).rejects.toThrow(/takes too long/);
  });

  it('is refused if it is damaged', async () => {
    await expect(repack(Buffer.from('no archive'))).rejects.toThrow(/damaged/);
    const archive = await makeArchive([{ name: 'network/main.tf', text: 'x'.repeat(10_000) }]);
    await expect(repack(archive.subarray(0, archive.length / 2))).rejects.toThrow(/damaged/);
  });

  it('is refused if its files are too large, before they are unpacked', async () => {
    const size = 600 * 1024 * 1024;
    // The header of a tar archive has the size in octal digits at the position 124, and a checksum at 148.
    const header = gunzipSync(await makeArchive([{ name: 'network/large', text: 'x' }])).subarray(0, 512);
    header.write(`${size.toString(8).padStart(11, '0')} `, 124);
    header.fill(' ', 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    await expect(repack(gzipSync(header))).rejects.toThrow(/more than 512 MiB/);
  });
});

describe('a text of an archive', () => {
  const read = (texts: ArchivedTexts, content: Buffer) => texts.read(toStream(content), '.gitmodules');

  it('is read without what follows it', async () => {
    const content = [{ name: 'network/.gitmodules', text: 'here' }];
    const after: Entry = { name: 'network/../../etc/passwd', text: 'x' };
    expect(await read(new ArchivedTexts(), await makeArchive([...content, after]))).toBe('here');
    await expect(read(new ArchivedTexts(), await makeArchive([after, ...content]))).rejects.toThrow(/path outside/);
    expect(await read(new ArchivedTexts(), await makeArchive([{ name: 'network/a', text: 'x' }]))).toBeNull();
  });

  it('has limits and a time that all archives of a commit share', async () => {
    const ended = new AbortController();
    const texts = new ArchivedTexts(ended.signal);
    const entries = Array.from({ length: 60_000 }, (_, number) => ({ name: `network/${number}`, text: '' }));
    const archive = await makeArchive(entries);
    expect(await read(texts, archive)).toBeNull();
    await expect(read(texts, archive)).rejects.toThrow(/100000 files/);
    ended.abort();
    await expect(read(texts, archive)).rejects.toThrow(/takes too long/);
  });
});
